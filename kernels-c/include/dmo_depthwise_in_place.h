// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Depthwise convolution that may store over its input (Lin et al., "Tiny Machine Learning: Progress and Futures",
// in-place depthwise convolution).
#ifndef DMO_DEPTHWISE_IN_PLACE_H
#define DMO_DEPTHWISE_IN_PLACE_H

#include "dmo_conv.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of scratch: one channel of one image, height * width of the input.
int32_t dmo_depthwise_conv2d_in_place_s8_scratch_bytes(const dmo_shape *input_shape);

// What dmo_depthwise_conv2d_s8 computes, for filters of one output channel for each input channel:
// input, output and filter have the same number of channels.
//
// Order: b, c: copies channel c of the input to the scratch (iy, ix), then oy, ox | fy, fx from there, and stores.
// Of each pixel only byte c is touched before channel c + 1 begins, so that output and input may start at the same
// byte where the output of an image is no larger than its input, or where there is only one image. Together they then
// take the larger of both and the scratch, which lies apart from everything.
void dmo_depthwise_conv2d_in_place_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                      const dmo_shape *input_shape, const int8_t *input,
                                      const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                      const dmo_shape *output_shape, int8_t *output, int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
