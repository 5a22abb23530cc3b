// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_vector_int4.h"

arm_cmsis_nn_status arm_fully_connected_s4(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
                                           const cmsis_nn_per_tensor_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                           const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                           const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)ctx;
  (void)bias_dims;
  const int32_t inputs = filter_dims->n, outputs = output_dims->c;
  const dsp_matrix matrix = { fc_params, &quant_params->multiplier, &quant_params->shift, 0, inputs, filter_data,
                              bias_data };
  for (int32_t b = 0; b < input_dims->n; ++b) {
    dsp_multiply_int4_matrix(&matrix, &input_data[b * inputs], outputs, &output_data[b * outputs]);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
