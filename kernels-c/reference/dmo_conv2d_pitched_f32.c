// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_pitched.h"

#include <stddef.h>

void dmo_conv2d_pitched_f32(const dmo_conv2d_f32_params *params,
                            const dmo_shape *input_shape, const dmo_pitch *input_pitch, const float *input,
                            const dmo_shape *filter_shape, const float *filter, const float *bias,
                            const dmo_shape *output_shape, const dmo_pitch *output_pitch, float *output) {
  const dmo_conv_geometry *g = &params->geometry;
  const int32_t groups = input_shape->c / filter_shape->c;
  const int32_t filters_per_group = filter_shape->n / groups;

  for (int32_t oy = 0; oy < output_shape->h; ++oy) {
    for (int32_t ox = 0; ox < output_shape->w; ++ox) {
      for (int32_t oc = 0; oc < output_shape->c; ++oc) {
        const int32_t first_channel = oc / filters_per_group * filter_shape->c;
        float sum = 0.0f;
        for (int32_t fy = 0; fy < filter_shape->h; ++fy) {
          const int32_t iy = oy * g->stride_h - g->pad_h + fy * g->dilation_h;
          if (iy < 0 || iy >= input_shape->h) {
            continue;
          }
          for (int32_t fx = 0; fx < filter_shape->w; ++fx) {
            const int32_t ix = ox * g->stride_w - g->pad_w + fx * g->dilation_w;
            if (ix < 0 || ix >= input_shape->w) {
              continue;
            }
            for (int32_t ic = 0; ic < filter_shape->c; ++ic) {
              const float value = input[dmo_pitched_offset(input_pitch, iy, ix, first_channel + ic)];
              const float weight = filter[dmo_offset(filter_shape, oc, fy, fx, ic)];
              sum += value * weight;
            }
          }
        }
        if (bias != NULL) {
          sum += bias[oc];
        }
        output[dmo_pitched_offset(output_pitch, oy, ox, oc)] =
            dmo_clamp_f32(sum, params->activation_min, params->activation_max);
      }
    }
  }
}
