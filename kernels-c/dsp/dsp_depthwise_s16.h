// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the depthwise convolutions share: all of it.
#ifndef DSP_DEPTHWISE_S16_H
#define DSP_DEPTHWISE_S16_H

#include "arm_nnfunctions.h"

// Order: batch, pixel, blocks of 4 output channels | fy, fx.
void dsp_depthwise_s16(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                       const cmsis_nn_dims *input_dims, const int16_t *input, const cmsis_nn_dims *filter_dims,
                       const int8_t *filter, const int64_t *bias, const cmsis_nn_dims *output_dims, int16_t *output);

#endif
