// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef DSP_DEPTHWISE_H
#define DSP_DEPTHWISE_H

#include "arm_nnfunctions.h"

#include <stdbool.h>

// The depthwise convolution behind every function of the interface; any geometry and multiplier.
void dsp_depthwise(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                   const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                   const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output);

// The same for a single input channel, if the first function takes the layer. Where that is called, and not within
// dsp_depthwise, so that only one of the two has its memory on the stack.
bool dsp_is_depthwise_plane(const cmsis_nn_dw_conv_params *params, const cmsis_nn_dims *input_dims,
                            const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims);
void dsp_depthwise_plane(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                         const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                         const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output);

#endif
