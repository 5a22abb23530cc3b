// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_extreme_s8.h"

arm_cmsis_nn_status arm_minimum_s8(const cmsis_nn_context *ctx, const int8_t *input_1_data,
                                   const cmsis_nn_dims *input_1_dims, const int8_t *input_2_data,
                                   const cmsis_nn_dims *input_2_dims, int8_t *output_data,
                                   const cmsis_nn_dims *output_dims) {
  (void)ctx;
  dsp_extreme_axes axes;
  if (!dsp_join_axes(input_1_dims, input_2_dims, output_dims, &axes)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  dsp_extreme_s8(false, &axes, input_1_data, input_2_data, output_data);
  return ARM_CMSIS_NN_SUCCESS;
}
