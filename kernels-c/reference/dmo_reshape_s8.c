// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_layout.h"

#include <string.h>

void dmo_reshape_s8(int32_t count, const int8_t *input, int8_t *output) {
  if (output != input) {
    memcpy(output, input, (size_t)count * sizeof *output);
  }
}
