// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_transposed_conv.h"

#include <stddef.h>

int32_t dmo_transposed_conv2d_s8_scratch_bytes(const dmo_shape *output_shape) {
  return output_shape->h * output_shape->w * output_shape->c * (int32_t)sizeof(int32_t);
}

void dmo_transposed_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                              const dmo_shape *input_shape, const int8_t *input,
                              const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                              const dmo_shape *output_shape, int8_t *output, int32_t *scratch) {
  const dmo_conv_geometry *g = &params->geometry;
  const dmo_shape sums_shape = { 1, output_shape->h, output_shape->w, output_shape->c };

  for (int32_t b = 0; b < input_shape->n; ++b) {
    for (int32_t i = 0; i < dmo_shape_size(&sums_shape); ++i) {
      scratch[i] = 0;
    }
    for (int32_t iy = 0; iy < input_shape->h; ++iy) {
      for (int32_t ix = 0; ix < input_shape->w; ++ix) {
        for (int32_t ic = 0; ic < input_shape->c; ++ic) {
          const int32_t value = input[dmo_offset(input_shape, b, iy, ix, ic)] + params->input_offset;
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
                const int32_t weight = filter[dmo_offset(filter_shape, oc, fy, fx, ic)];
                scratch[dmo_offset(&sums_shape, 0, oy, ox, oc)] += value * weight;
              }
            }
          }
        }
      }
    }
    for (int32_t oy = 0; oy < output_shape->h; ++oy) {
      for (int32_t ox = 0; ox < output_shape->w; ++ox) {
        for (int32_t oc = 0; oc < output_shape->c; ++oc) {
          int32_t sum = scratch[dmo_offset(&sums_shape, 0, oy, ox, oc)];
          if (bias != NULL) {
            sum += bias[oc];
          }
          const int32_t scaled =
              dmo_requantize(sum, quant->multiplier[oc], quant->shift[oc]) + params->output_offset;
          output[dmo_offset(output_shape, b, oy, ox, oc)] =
              (int8_t)dmo_clamp(scaled, params->activation_min, params->activation_max);
        }
      }
    }
  }
}
