// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef PLAIN_DEPTHWISE_H
#define PLAIN_DEPTHWISE_H

#include "arm_nnfunctions.h"

// The depthwise convolution behind every function of the interface; any geometry and multiplier. Order: batch, pixel,
// output channels | fy, fx; an output is stored after its loads, and with a multiplier above 1 those of a block of up
// to 8 channels that read the same one of the input.
void plain_depthwise(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                     const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                     const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output);

#endif
