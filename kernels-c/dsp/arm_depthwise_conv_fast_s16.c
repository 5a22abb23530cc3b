// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_depthwise_s16.h"

int32_t arm_depthwise_conv_fast_s16_get_buffer_size(const cmsis_nn_dims *input_dims,
                                                    const cmsis_nn_dims *filter_dims) {
  (void)input_dims;
  (void)filter_dims;
  return 0;
}

arm_cmsis_nn_status arm_depthwise_conv_fast_s16(const cmsis_nn_context *ctx,
                                                const cmsis_nn_dw_conv_params *dw_conv_params,
                                                const cmsis_nn_per_channel_quant_params *quant_params,
                                                const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                                const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
                                                const cmsis_nn_dims *output_dims, int16_t *output_data) {
  enum { MOST_TAPS = 511 }; // as the interface has it
  (void)ctx;
  (void)bias_dims;
  if (input_dims->c != output_dims->c || filter_dims->h * filter_dims->w > MOST_TAPS) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  dsp_depthwise_s16(dw_conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_data,
                    output_dims, output_data);
  return ARM_CMSIS_NN_SUCCESS;
}
