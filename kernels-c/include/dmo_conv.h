// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Convolutions.
//
// Precondition of every kernel in this library: output and input do not overlap, unless a planner proved for this
// kernel, compiled as it is, that the overlap is safe. No pointer is `restrict`, on purpose: a planner does overlap
// these buffers, and `restrict` would allow the compiler to move a store ahead of a load that it must follow.
#ifndef DMO_CONV_H
#define DMO_CONV_H

#include "dmo_quantize.h"
#include "dmo_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where a filter's taps fall: tap (fy, fx) of output (oy, ox) reads the input at
//   (oy * stride_h - pad_h + fy * dilation_h,  ox * stride_w - pad_w + fx * dilation_w).
// A tap outside the input contributes zero and is not loaded. pad_h and pad_w are the rows above and the columns left
// of the input, at least 0; what lies below and right follows from the output's shape. Strides and dilations are at
// least 1.
typedef struct {
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_h, pad_w;
} dmo_conv_geometry;

// Offsets are in [-128, 128] (see dmo_quantize.h), the activation range lies in [-128, 127].
typedef struct {
  dmo_conv_geometry geometry;
  int32_t input_offset, output_offset;
  int32_t activation_min, activation_max;
} dmo_conv2d_params;

typedef struct {
  dmo_conv_geometry geometry;
  float activation_min, activation_max;
} dmo_conv2d_f32_params;

// Convolution, 8 bit.
//
//   output[b, oy, ox, oc] = clamp(output_offset + requantize_oc(bias[oc] +
//                                 sum (input[b, iy, ix, g * I + ic] + input_offset) * filter[oc, fy, fx, ic]))
//
// input [N, H, W, C], filter [O, H, W, I], output [N, H, W, O], bias [O] or NULL for none. Filters are symmetric: their
// zero point is 0. C is a multiple of I: C / I groups g, each with O / (C / I) consecutive filters.
// Loop order: b, oy, ox, oc | fy, fx, ic; each output element is stored once, after its loads. Scratch: none.
void dmo_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                   const dmo_shape *input_shape, const int8_t *input,
                   const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                   const dmo_shape *output_shape, int8_t *output);

// Convolution, float. Layouts, groups and loop order are those of dmo_conv2d_s8; the sum starts at 0, in loop order,
// and bias comes last. Scratch: none.
void dmo_conv2d_f32(const dmo_conv2d_f32_params *params,
                    const dmo_shape *input_shape, const float *input,
                    const dmo_shape *filter_shape, const float *filter, const float *bias,
                    const dmo_shape *output_shape, float *output);

// Depthwise convolution, 8 bit: input channel ic yields output channels ic * M to ic * M + M - 1.
//
//   output[b, oy, ox, oc] = clamp(output_offset + requantize_oc(bias[oc] +
//                                 sum (input[b, iy, ix, oc / M] + input_offset) * filter[0, fy, fx, oc]))
//
// input [N, H, W, C], filter [1, H, W, C * M], output [N, H, W, C * M], bias [C * M] or NULL for none. M, the depth
// multiplier, follows from the shapes.
// Loop order: b, oy, ox, ic, m | fy, fx; each output element is stored once, after its loads. Scratch: none.
void dmo_depthwise_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                             const dmo_shape *input_shape, const int8_t *input,
                             const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                             const dmo_shape *output_shape, int8_t *output);

// Depthwise convolution, float. Layouts and loop order are those of dmo_depthwise_conv2d_s8. Scratch: none.
void dmo_depthwise_conv2d_f32(const dmo_conv2d_f32_params *params,
                              const dmo_shape *input_shape, const float *input,
                              const dmo_shape *filter_shape, const float *filter, const float *bias,
                              const dmo_shape *output_shape, float *output);

#ifdef __cplusplus
}
#endif

#endif
