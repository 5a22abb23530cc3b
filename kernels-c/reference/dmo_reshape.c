// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_move.h"

#include <string.h>

void dmo_reshape(int32_t element_bytes, int32_t count, const void *input, void *output) {
  if (output != input) {
    memcpy(output, input, (size_t)count * (size_t)element_bytes);
  }
}
