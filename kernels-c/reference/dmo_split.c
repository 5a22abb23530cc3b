// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_move.h"

#include <string.h>

void dmo_split(int32_t axis, int32_t element_bytes, int32_t output_count, const dmo_shape *output_shapes,
               const void *input, void *const *outputs) {
  const char *from = input;
  int32_t outer = 1;
  for (int32_t before = 0; before < axis; ++before) {
    outer *= dmo_shape_extent(&output_shapes[0], (dmo_axis)before);
  }
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t i = 0; i < output_count; ++i) {
      const int32_t bytes = dmo_shape_size(&output_shapes[i]) / outer * element_bytes;
      memcpy((char *)outputs[i] + o * bytes, from, (size_t)bytes);
      from += bytes;
    }
  }
}
