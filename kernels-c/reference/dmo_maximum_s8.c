// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_offset.h"

void dmo_maximum_s8(const dmo_shape *input1_shape, const int8_t *input1,
                    const dmo_shape *input2_shape, const int8_t *input2,
                    const dmo_shape *output_shape, int8_t *output) {
  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      for (int32_t w = 0; w < output_shape->w; ++w) {
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const int32_t value1 = input1[dmo_broadcast_offset(input1_shape, n, h, w, c)];
          const int32_t value2 = input2[dmo_broadcast_offset(input2_shape, n, h, w, c)];
          output[dmo_offset(output_shape, n, h, w, c)] = (int8_t)(value1 > value2 ? value1 : value2);
        }
      }
    }
  }
}
