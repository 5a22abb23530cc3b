// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_convolve.h"
#include "plain_int4.h"

arm_cmsis_nn_status arm_convolve_1x1_s4(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                        const cmsis_nn_per_channel_quant_params *quant_params,
                                        const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                        const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                        const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                        const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)ctx;
  (void)bias_dims;
  if (!plain_is_1x1(conv_params, filter_dims)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const bool is_joined = plain_is_1x1_fast(conv_params, input_dims, filter_dims, output_dims);
  plain_convolve_int4_1x1(conv_params, quant_params, input_dims, input_data, filter_data, bias_data, output_dims,
                          is_joined, output_data);
  return ARM_CMSIS_NN_SUCCESS;
}
