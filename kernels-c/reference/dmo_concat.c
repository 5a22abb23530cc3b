// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_move.h"

#include <string.h>

void dmo_concat(int32_t axis, int32_t element_bytes, int32_t input_count, const dmo_shape *input_shapes,
                const void *const *inputs, void *output) {
  char *to = output;
  int32_t outer = 1;
  for (int32_t before = 0; before < axis; ++before) {
    outer *= dmo_shape_extent(&input_shapes[0], (dmo_axis)before);
  }
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t i = 0; i < input_count; ++i) {
      const int32_t bytes = dmo_shape_size(&input_shapes[i]) / outer * element_bytes;
      memcpy(to, (const char *)inputs[i] + o * bytes, (size_t)bytes);
      to += bytes;
    }
  }
}
