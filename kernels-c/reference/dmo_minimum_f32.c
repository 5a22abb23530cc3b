// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_offset.h"

void dmo_minimum_f32(const dmo_shape *input1_shape, const float *input1,
                     const dmo_shape *input2_shape, const float *input2,
                     const dmo_shape *output_shape, float *output) {
  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      for (int32_t w = 0; w < output_shape->w; ++w) {
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const float value1 = input1[dmo_broadcast_offset(input1_shape, n, h, w, c)];
          const float value2 = input2[dmo_broadcast_offset(input2_shape, n, h, w, c)];
          output[dmo_offset(output_shape, n, h, w, c)] = value1 < value2 ? value1 : value2;
        }
      }
    }
  }
}
