// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_move.h"

#include <string.h>

void dmo_circular_buffer(int32_t input_bytes, int32_t buffer_bytes, const int8_t *input, int8_t *buffer) {
  size_t kept = (size_t)(buffer_bytes - input_bytes);
  memmove(buffer, buffer + input_bytes, kept);
  memcpy(buffer + kept, input, (size_t)input_bytes);
}
