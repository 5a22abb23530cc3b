// SPDX-License-Identifier: MIT OR Apache-2.0
  if (differing > 0) {
    PRINT("@model@: " @PREFIX@VECTORS_TEXT " recorded inferences, outputs as this C library rounds its functions\n");
    return 0;
  }
