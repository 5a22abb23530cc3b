// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_pitched.h"

void dmo_avg_pool_pitched_s8(const dmo_pool_params *params,
                             const dmo_shape *input_shape, const dmo_pitch *input_pitch, const int8_t *input,
                             const dmo_shape *output_shape, const dmo_pitch *output_pitch, int8_t *output) {
  const dmo_pool_geometry *g = &params->geometry;

  for (int32_t oy = 0; oy < output_shape->h; ++oy) {
    for (int32_t ox = 0; ox < output_shape->w; ++ox) {
      for (int32_t c = 0; c < output_shape->c; ++c) {
        int32_t sum = 0;
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
            sum += input[dmo_pitched_offset(input_pitch, iy, ix, c)];
            ++count;
          }
        }
        const int32_t half = sum > 0 ? count / 2 : -(count / 2);
        const int32_t average = (sum + half) / count;
        output[dmo_pitched_offset(output_pitch, oy, ox, c)] =
            (int8_t)dmo_clamp(average, params->activation_min, params->activation_max);
      }
    }
  }
}
