// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef PLAIN_DEPTHWISE_H
#define PLAIN_DEPTHWISE_H

#include "arm_nnfunctions.h"

// The depthwise convolution behind every function of the interface; any geometry and multiplier. Order: batch, pixel,
// input channels or, with multiplier 1, blocks of 8 of them | fy, fx; the outputs of a block are stored after its loads.
void plain_depthwise(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                     const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                     const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output);

#endif
