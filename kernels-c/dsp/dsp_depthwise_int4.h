// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef DSP_DEPTHWISE_INT4_H
#define DSP_DEPTHWISE_INT4_H

#include "arm_nnfunctions.h"

// The depthwise convolution with weights of 4 bits that are unpacked as they are used; any geometry and multiplier.
// Order: batch, pixel, blocks of up to 4 output channels, in plain of up to 2 | fy, fx; the outputs of a block are
// stored after its loads.
void dsp_depthwise_int4(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                        const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                        const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output);

#endif
