// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Stands in for board/semihost.c when an example runs natively.
#include "semihost.h"

#include <stdio.h>
#include <stdlib.h>

void semihost_print(const char *text) {
  fputs(text, stderr);
}

_Noreturn void semihost_exit(int status) {
  exit(status);
}
