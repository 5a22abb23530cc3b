// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Walks the input pixels under the filter and asks which tap each of them meets; the kernels walk the taps.
#include "oracle.h"

#include <stddef.h>

int32_t oracle_depthwise_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                   const dmo_shape *input_shape, const int8_t *input,
                                   const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                   const dmo_shape *output_shape, int32_t index) {
  const dmo_conv_geometry *g = &params->geometry;
  const oracle_position at = oracle_position_of(output_shape, index);
  const oracle_window rows = oracle_window_of(at.h, g->stride_h, g->pad_h, filter_shape->h, g->dilation_h,
                                              input_shape->h);
  const oracle_window columns = oracle_window_of(at.w, g->stride_w, g->pad_w, filter_shape->w, g->dilation_w,
                                                 input_shape->w);
  const int64_t ic = at.c * input_shape->c / output_shape->c;
  int64_t sum = bias != NULL ? bias[at.c] : 0;
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      if ((ix - columns.origin) % g->dilation_w != 0 || (iy - rows.origin) % g->dilation_h != 0) {
        continue;
      }
      const int64_t fy = (iy - rows.origin) / g->dilation_h;
      const int64_t fx = (ix - columns.origin) / g->dilation_w;
      const int64_t value = input[oracle_index(input_shape, at.n, iy, ix, ic)];
      sum += (value + params->input_offset) * filter[oracle_index(filter_shape, 0, fy, fx, at.c)];
    }
  }
  const int64_t value = oracle_requantize(sum, quant->multiplier[at.c], quant->shift[at.c]) + params->output_offset;
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

float oracle_depthwise_conv2d_f32(const dmo_conv2d_f32_params *params,
                                  const dmo_shape *input_shape, const float *input,
                                  const dmo_shape *filter_shape, const float *filter, const float *bias,
                                  const dmo_shape *output_shape, int32_t index) {
  const dmo_conv_geometry *g = &params->geometry;
  const oracle_position at = oracle_position_of(output_shape, index);
  const oracle_window rows = oracle_window_of(at.h, g->stride_h, g->pad_h, filter_shape->h, g->dilation_h,
                                              input_shape->h);
  const oracle_window columns = oracle_window_of(at.w, g->stride_w, g->pad_w, filter_shape->w, g->dilation_w,
                                                 input_shape->w);
  const int64_t ic = at.c * input_shape->c / output_shape->c;
  double sum = bias != NULL ? (double)bias[at.c] : 0.0;
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      if ((ix - columns.origin) % g->dilation_w != 0 || (iy - rows.origin) % g->dilation_h != 0) {
        continue;
      }
      const int64_t fy = (iy - rows.origin) / g->dilation_h;
      const int64_t fx = (ix - columns.origin) / g->dilation_w;
      sum += (double)input[oracle_index(input_shape, at.n, iy, ix, ic)] *
             (double)filter[oracle_index(filter_shape, 0, fy, fx, at.c)];
    }
  }
  return (float)oracle_clamp_f64(sum, (double)params->activation_min, (double)params->activation_max);
}
