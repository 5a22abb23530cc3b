// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"

// Where CMSIS-NN has scratch. When TensorFlow Lite Micro asks for the size it has not set the multiplier, nor strides,
// offsets and activation.
static bool is_opt(const cmsis_nn_dw_conv_params *params, const cmsis_nn_dims *input, const cmsis_nn_dims *output) {
  return output->c == input->c && input->n == 1 && params->dilation.w == 1 && params->dilation.h == 1;
}

int32_t arm_depthwise_conv_wrapper_s4_get_buffer_size(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                      const cmsis_nn_dims *input_dims,
                                                      const cmsis_nn_dims *filter_dims,
                                                      const cmsis_nn_dims *output_dims) {
  return is_opt(dw_conv_params, input_dims, output_dims)
             ? arm_depthwise_conv_s4_opt_get_buffer_size(input_dims, filter_dims)
             : 0;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s4(const cmsis_nn_context *ctx,
                                                  const cmsis_nn_dw_conv_params *dw_conv_params,
                                                  const cmsis_nn_per_channel_quant_params *quant_params,
                                                  const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                                  const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                  const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                                  const cmsis_nn_dims *output_dims, int8_t *output_data) {
  if (is_opt(dw_conv_params, input_dims, output_dims)) {
    return arm_depthwise_conv_s4_opt(ctx, dw_conv_params, quant_params, input_dims, input_data, filter_dims,
                                     filter_data, bias_dims, bias_data, output_dims, output_data);
  }
  return arm_depthwise_conv_s4(ctx, dw_conv_params, quant_params, input_dims, input_data, filter_dims, filter_data,
                               bias_dims, bias_data, output_dims, output_data);
}
