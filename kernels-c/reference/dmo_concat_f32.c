// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_layout.h"

#include <string.h>

void dmo_concat_f32(dmo_axis axis, int32_t input_count, const dmo_shape *input_shapes, const float *const *inputs,
                    float *output) {
  int32_t outer = 1;
  for (dmo_axis before = DMO_AXIS_N; before < axis; ++before) {
    outer *= dmo_shape_extent(&input_shapes[0], before);
  }
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t i = 0; i < input_count; ++i) {
      const int32_t count = dmo_shape_size(&input_shapes[i]) / outer;
      memcpy(output, &inputs[i][o * count], (size_t)count * sizeof *output);
      output += count;
    }
  }
}
