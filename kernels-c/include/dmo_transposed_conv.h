// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Transposed convolution: each input element adds its multiple of the filter to a window of the output. Input (iy, ix)
// and tap (fy, fx) meet the output at (iy * stride_h - pad_h + fy, ix * stride_w - pad_w + fx), unless that lies
// outside. The geometry's dilation is 1 and not read. input [N, H, W, C], filter [O, H, W, C], output [N, H, W, O],
// bias [O] or NULL for none. Output and input do not overlap unless a planner proved it safe; see dmo_conv.h. Scratch
// overlaps neither.
#ifndef DMO_TRANSPOSED_CONV_H
#define DMO_TRANSPOSED_CONV_H

#include "dmo_conv.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of scratch: the sums of one output batch, as int32_t for 8 bit and int64_t for 16 bit.
int32_t dmo_transposed_conv2d_s8_scratch_bytes(const dmo_shape *output_shape);
int32_t dmo_transposed_conv2d_s16_scratch_bytes(const dmo_shape *output_shape);

//   output[b, oy, ox, oc] = clamp(output_offset + requantize_oc(bias[oc] +
//                                 sum (input[b, iy, ix, ic] + input_offset) * filter[oc, fy, fx, ic]))
//
// 16 bit: the offsets are 0 and not read, and requantize is dmo_requantize_wide of dmo_int16.h.
// Loop order, for each batch: zeroes the scratch; loops iy, ix, ic, each of which loads its input element once, then
// fy, fx, oc, each of which adds to the scratch; loops oy, ox, oc, each of which loads the scratch and stores one
// output element. Thus within a batch every load of the input comes before every store of the output.
void dmo_transposed_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                              const dmo_shape *input_shape, const int8_t *input,
                              const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                              const dmo_shape *output_shape, int8_t *output, int32_t *scratch);
void dmo_transposed_conv2d_s16(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                               const dmo_shape *input_shape, const int16_t *input,
                               const dmo_shape *filter_shape, const int8_t *filter, const int64_t *bias,
                               const dmo_shape *output_shape, int16_t *output, int64_t *scratch);

// Float: sums in the output. Scratch: none.
// Loop order: stores zero to the whole output; loops b, iy, ix, ic, each of which loads its input element once, then
// fy, fx, oc, each of which loads and stores an output element; then loads, adds bias to, clamps and stores each output
// element in flat order. No overlap is ever safe.
void dmo_transposed_conv2d_f32(const dmo_conv2d_f32_params *params,
                               const dmo_shape *input_shape, const float *input,
                               const dmo_shape *filter_shape, const float *filter, const float *bias,
                               const dmo_shape *output_shape, float *output);

#ifdef __cplusplus
}
#endif

#endif
