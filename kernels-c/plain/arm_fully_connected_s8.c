// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_fully_connected.h"

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims) {
  (void)filter_dims;
  return 0;
}

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
                                           const cmsis_nn_per_tensor_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                           const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                           const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)ctx;
  (void)bias_dims;
  plain_fully_connected(fc_params, &quant_params->multiplier, &quant_params->shift, 0, input_dims, input_data,
                        filter_dims, filter_data, bias_data, output_dims, output_data);
  return ARM_CMSIS_NN_SUCCESS;
}
