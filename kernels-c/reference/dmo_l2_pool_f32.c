// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_pool.h"

#include <math.h>

void dmo_l2_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                     const dmo_shape *output_shape, float *output) {
  const dmo_pool_geometry *g = &params->geometry;

  for (int32_t b = 0; b < output_shape->n; ++b) {
    for (int32_t oy = 0; oy < output_shape->h; ++oy) {
      for (int32_t ox = 0; ox < output_shape->w; ++ox) {
        for (int32_t c = 0; c < output_shape->c; ++c) {
          float sum = 0.0f;
          int32_t count = 0;
          for (int32_t fy = 0; fy < g->filter_h; ++fy) {
            const int32_t iy = oy * g->stride_h - g->pad_h + fy;
            if (iy < 0 || iy >= input_shape->h) {
              continue;
            }
            for (int32_t fx = 0; fx < g->filter_w; ++fx) {
              const int32_t ix = ox * g->stride_w - g->pad_w + fx;
              if (ix < 0 || ix >= input_shape->w) {
                continue;
              }
              const float value = input[dmo_offset(input_shape, b, iy, ix, c)];
              sum += value * value;
              ++count;
            }
          }
          const float root = sqrtf(sum / (float)count);
          output[dmo_offset(output_shape, b, oy, ox, c)] =
              dmo_clamp_f32(root, params->activation_min, params->activation_max);
        }
      }
    }
  }
}
