// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dmo_int16.h"

#include <stddef.h>

arm_cmsis_nn_status arm_softmax_s16(const int16_t *input, const int32_t num_rows, const int32_t row_size,
                                    const int32_t mult, const int32_t shift,
                                    const cmsis_nn_softmax_lut_s16 *softmax_params, int16_t *output) {
  if (softmax_params->exp_lut == NULL || softmax_params->one_by_one_lut == NULL) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const dmo_softmax_s16_params params = { .input_beta = { mult, shift } };
  dmo_softmax_s16(&params, num_rows, row_size, input, softmax_params->exp_lut, softmax_params->one_by_one_lut, output);
  return ARM_CMSIS_NN_SUCCESS;
}
