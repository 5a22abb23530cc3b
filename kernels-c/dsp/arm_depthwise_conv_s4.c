// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_depthwise_int4.h"

arm_cmsis_nn_status arm_depthwise_conv_s4(const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
                                          const cmsis_nn_per_channel_quant_params *quant_params,
                                          const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                          const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                          const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                          const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)ctx;
  (void)bias_dims;
  if (output_dims->c != input_dims->c * dw_conv_params->ch_mult) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  dsp_depthwise_int4(dw_conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_data,
                     output_dims, output_data);
  return ARM_CMSIS_NN_SUCCESS;
}
