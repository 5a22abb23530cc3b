// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef DMO_DSP_DEPTHWISE_IN_PLACE_H
#define DMO_DSP_DEPTHWISE_IN_PLACE_H

#include "dmo_depthwise_in_place.h"

#ifdef __cplusplus
extern "C" {
#endif

// As dmo_depthwise_conv2d_in_place_s8, with the same order and as much scratch, fast for windows of 3x3 without
// dilation on cores with the DSP extension.
void dmo_dsp_depthwise_conv2d_in_place_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                          const dmo_shape *input_shape, const int8_t *input,
                                          const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                          const dmo_shape *output_shape, int8_t *output, int8_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
