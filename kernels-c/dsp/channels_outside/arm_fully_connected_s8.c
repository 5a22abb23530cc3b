// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Outputs outside, batches inside.
#include "dsp_fully_connected.h"

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
  const int32_t inputs = filter_dims->n;
  const int32_t outputs = output_dims->c;
  const dsp_matrix matrix = { fc_params, &quant_params->multiplier, &quant_params->shift, 0, inputs, filter_data, bias_data };
  for (int32_t first = 0; first < outputs; first += 4) {
    for (int32_t b = 0; b < input_dims->n; ++b) {
      dsp_multiply_matrix(&matrix, &input_data[b * inputs], first, outputs - first < 4 ? outputs : first + 4,
                          &output_data[b * outputs]);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
