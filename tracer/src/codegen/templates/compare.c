// SPDX-License-Identifier: MIT OR Apache-2.0
      if (memcmp(@own@, @recorded@, @size@) != 0) {
        return failed("@name@");
      }
