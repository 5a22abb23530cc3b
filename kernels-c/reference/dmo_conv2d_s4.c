// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_int4.h"

#include <stddef.h>

void dmo_conv2d_s4(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                   const dmo_shape *input_shape, const int8_t *input,
                   const dmo_shape *filter_shape, const uint8_t *filter, const int32_t *bias,
                   const dmo_shape *output_shape, int8_t *output) {
  const dmo_conv_geometry *g = &params->geometry;
  const int32_t groups = input_shape->c / filter_shape->c;
  const int32_t filters_per_group = filter_shape->n / groups;

  for (int32_t b = 0; b < output_shape->n; ++b) {
    for (int32_t oy = 0; oy < output_shape->h; ++oy) {
      for (int32_t ox = 0; ox < output_shape->w; ++ox) {
        for (int32_t oc = 0; oc < output_shape->c; ++oc) {
          const int32_t first_channel = oc / filters_per_group * filter_shape->c;
          int32_t sum = 0;
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
                const int32_t value = input[dmo_offset(input_shape, b, iy, ix, first_channel + ic)];
                const int32_t weight = dmo_int4_weight(filter, dmo_offset(filter_shape, oc, fy, fx, ic));
                sum += (value + params->input_offset) * weight;
              }
            }
          }
          if (bias != NULL) {
            sum += bias[oc];
          }
          sum = dmo_requantize(sum, quant->multiplier[oc], quant->shift[oc]) + params->output_offset;
          sum = dmo_clamp(sum, params->activation_min, params->activation_max);
          output[dmo_offset(output_shape, b, oy, ox, oc)] = (int8_t)sum;
        }
      }
    }
  }
}
