// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Gathers: asks which input pixels reach an output pixel, and through which tap; the kernels scatter.
#include "oracle_operators.h"

#include <stddef.h>

// The input coordinate that reaches `output` through tap `tap`, or -1.
static int64_t reaching(int64_t output, int64_t tap, int64_t stride, int64_t pad, int64_t input_extent) {
  const int64_t distance = output + pad - tap;
  return distance >= 0 && distance % stride == 0 && distance / stride < input_extent ? distance / stride : -1;
}

int32_t oracle_transposed_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                    const dmo_shape *input_shape, const int8_t *input,
                                    const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                    const dmo_shape *output_shape, int32_t index) {
  const dmo_conv_geometry *g = &params->geometry;
  const oracle_position at = oracle_position_of(output_shape, index);
  int64_t sum = bias != NULL ? bias[at.c] : 0;
  for (int64_t tap = (int64_t)filter_shape->h * filter_shape->w - 1; tap >= 0; --tap) {
    const int64_t fy = tap / filter_shape->w;
    const int64_t fx = tap % filter_shape->w;
    const int64_t iy = reaching(at.h, fy, g->stride_h, g->pad_h, input_shape->h);
    const int64_t ix = reaching(at.w, fx, g->stride_w, g->pad_w, input_shape->w);
    for (int64_t ic = input_shape->c - 1; iy >= 0 && ix >= 0 && ic >= 0; --ic) {
      sum += ((int64_t)input[oracle_index(input_shape, at.n, iy, ix, ic)] + params->input_offset) *
             filter[oracle_index(filter_shape, at.c, fy, fx, ic)];
    }
  }
  const int64_t value = oracle_requantize(sum, quant->multiplier[at.c], quant->shift[at.c]) + params->output_offset;
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

int32_t oracle_transposed_conv2d_s16(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                     const dmo_shape *input_shape, const int16_t *input,
                                     const dmo_shape *filter_shape, const int8_t *filter, const int64_t *bias,
                                     const dmo_shape *output_shape, int32_t index) {
  const dmo_conv_geometry *g = &params->geometry;
  const oracle_position at = oracle_position_of(output_shape, index);
  int64_t sum = bias != NULL ? bias[at.c] : 0;
  for (int64_t tap = (int64_t)filter_shape->h * filter_shape->w - 1; tap >= 0; --tap) {
    const int64_t fy = tap / filter_shape->w;
    const int64_t fx = tap % filter_shape->w;
    const int64_t iy = reaching(at.h, fy, g->stride_h, g->pad_h, input_shape->h);
    const int64_t ix = reaching(at.w, fx, g->stride_w, g->pad_w, input_shape->w);
    for (int64_t ic = input_shape->c - 1; iy >= 0 && ix >= 0 && ic >= 0; --ic) {
      sum += (int64_t)input[oracle_index(input_shape, at.n, iy, ix, ic)] *
             filter[oracle_index(filter_shape, at.c, fy, fx, ic)];
    }
  }
  const int64_t value = oracle_requantize_wide(sum, quant->multiplier[at.c], quant->shift[at.c]);
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

float oracle_transposed_conv2d_f32(const dmo_conv2d_f32_params *params,
                                   const dmo_shape *input_shape, const float *input,
                                   const dmo_shape *filter_shape, const float *filter, const float *bias,
                                   const dmo_shape *output_shape, int32_t index) {
  const dmo_conv_geometry *g = &params->geometry;
  const oracle_position at = oracle_position_of(output_shape, index);
  double sum = bias != NULL ? (double)bias[at.c] : 0.0;
  for (int64_t tap = (int64_t)filter_shape->h * filter_shape->w - 1; tap >= 0; --tap) {
    const int64_t fy = tap / filter_shape->w;
    const int64_t fx = tap % filter_shape->w;
    const int64_t iy = reaching(at.h, fy, g->stride_h, g->pad_h, input_shape->h);
    const int64_t ix = reaching(at.w, fx, g->stride_w, g->pad_w, input_shape->w);
    for (int64_t ic = input_shape->c - 1; iy >= 0 && ix >= 0 && ic >= 0; --ic) {
      sum += (double)input[oracle_index(input_shape, at.n, iy, ix, ic)] *
             (double)filter[oracle_index(filter_shape, at.c, fy, fx, ic)];
    }
  }
  return (float)oracle_clamp_f64(sum, (double)params->activation_min, (double)params->activation_max);
}
