// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_transposed_conv.h"

#include <stddef.h>

void dmo_transposed_conv2d_f32(const dmo_conv2d_f32_params *params,
                               const dmo_shape *input_shape, const float *input,
                               const dmo_shape *filter_shape, const float *filter, const float *bias,
                               const dmo_shape *output_shape, float *output) {
  const dmo_conv_geometry *g = &params->geometry;
  const int32_t output_size = dmo_shape_size(output_shape);

  for (int32_t i = 0; i < output_size; ++i) {
    output[i] = 0.0f;
  }
  for (int32_t b = 0; b < input_shape->n; ++b) {
    for (int32_t iy = 0; iy < input_shape->h; ++iy) {
      for (int32_t ix = 0; ix < input_shape->w; ++ix) {
        for (int32_t ic = 0; ic < input_shape->c; ++ic) {
          const float value = input[dmo_offset(input_shape, b, iy, ix, ic)];
          for (int32_t fy = 0; fy < filter_shape->h; ++fy) {
            const int32_t oy = iy * g->stride_h - g->pad_h + fy;
            if (oy < 0 || oy >= output_shape->h) {
              continue;
            }
            for (int32_t fx = 0; fx < filter_shape->w; ++fx) {
              const int32_t ox = ix * g->stride_w - g->pad_w + fx;
              if (ox < 0 || ox >= output_shape->w) {
                continue;
              }
              for (int32_t oc = 0; oc < output_shape->c; ++oc) {
                const float weight = filter[dmo_offset(filter_shape, oc, fy, fx, ic)];
                output[dmo_offset(output_shape, b, oy, ox, oc)] += value * weight;
              }
            }
          }
        }
      }
    }
  }
  for (int32_t i = 0; i < output_size; ++i) {
    const float sum = bias != NULL ? output[i] + bias[i % output_shape->c] : output[i];
    output[i] = dmo_clamp_f32(sum, params->activation_min, params->activation_max);
  }
}
