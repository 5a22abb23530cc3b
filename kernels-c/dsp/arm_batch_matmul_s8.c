// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_batches.h"
#include "dsp_fully_connected.h"

#include <stddef.h>

arm_cmsis_nn_status arm_batch_matmul_s8(const cmsis_nn_context *ctx, const cmsis_nn_bmm_params *bmm_params,
                                        const cmsis_nn_per_tensor_quant_params *quant_params,
                                        const cmsis_nn_dims *input_lhs_dims, const int8_t *input_lhs,
                                        const cmsis_nn_dims *input_rhs_dims, const int8_t *input_rhs,
                                        const cmsis_nn_dims *output_dims, int8_t *output) {
  (void)ctx;
  if (!dsp_are_batches(input_lhs_dims, input_rhs_dims, output_dims)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t rows = input_lhs_dims->w, columns = input_rhs_dims->w, inner = input_lhs_dims->c;
  dsp_matrix matrix = { &bmm_params->fc_params, &quant_params->multiplier, &quant_params->shift, 0, inner, NULL, NULL };
  for (int32_t n = 0; n < output_dims->n; ++n) {
    for (int32_t h = 0; h < output_dims->h; ++h) {
      const int8_t *row = &input_lhs[dsp_batch_offset(input_lhs_dims, n, h)];
      matrix.filter = &input_rhs[dsp_batch_offset(input_rhs_dims, n, h)];
      for (int32_t i = 0; i < rows; ++i) {
        dsp_multiply_matrix(&matrix, row, 0, columns, output);
        row += inner;
        output += columns;
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
