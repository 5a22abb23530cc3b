// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_reduce_axes.h"

#include <float.h>

void dmo_reduce_max_f32(const dmo_shape *input_shape, const float *input,
                        const dmo_shape *output_shape, float *output) {
  const int32_t output_size = dmo_shape_size(output_shape);

  for (int32_t i = 0; i < output_size; ++i) {
    output[i] = -FLT_MAX;
  }
  for (int32_t n = 0; n < input_shape->n; ++n) {
    for (int32_t h = 0; h < input_shape->h; ++h) {
      for (int32_t w = 0; w < input_shape->w; ++w) {
        for (int32_t c = 0; c < input_shape->c; ++c) {
          // An axis of extent 1 in the output has the one coordinate 0.
          const int32_t reduced = dmo_offset(output_shape, n % output_shape->n, h % output_shape->h,
                                             w % output_shape->w, c % output_shape->c);
          const float value = input[dmo_offset(input_shape, n, h, w, c)];
          output[reduced] = value > output[reduced] ? value : output[reduced];
        }
      }
    }
  }
}
