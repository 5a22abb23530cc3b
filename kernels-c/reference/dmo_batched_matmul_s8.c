// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_batched_matmul.h"

void dmo_batched_matmul_s8(const dmo_batched_matmul_params *params, const dmo_batched_matmul_size *size,
                           const int8_t *a, const int8_t *b, int8_t *output) {
  for (int32_t n = 0; n < size->batches; ++n) {
    for (int32_t i = 0; i < size->rows; ++i) {
      for (int32_t j = 0; j < size->columns; ++j) {
        int32_t sum = 0;
        for (int32_t k = 0; k < size->inner; ++k) {
          const int32_t value_a = a[n * size->a.batch + i * size->a.row + k * size->a.column] + params->a_offset;
          const int32_t value_b = b[n * size->b.batch + k * size->b.row + j * size->b.column] + params->b_offset;
          sum += value_a * value_b;
        }
        sum = dmo_requantize(sum, params->output.multiplier, params->output.shift) + params->output_offset;
        output[(n * size->rows + i) * size->columns + j] =
            (int8_t)dmo_clamp(sum, params->activation_min, params->activation_max);
      }
    }
  }
}
