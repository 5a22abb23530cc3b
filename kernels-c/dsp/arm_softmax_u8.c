// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dmo_uint8.h"

void arm_softmax_u8(const uint8_t *input, const int32_t num_rows, const int32_t row_size, const int32_t mult,
                    const int32_t shift, const int32_t diff_min, uint8_t *output) {
  const dmo_softmax_params params = { .input_beta = { mult, shift }, .diff_min = diff_min };
  dmo_softmax_u8(&params, num_rows, row_size, input, output);
}
