// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_batched_matmul.h"

void dmo_batched_matmul_s16(const dmo_batched_matmul_params *params, const dmo_batched_matmul_size *size,
                            const int16_t *a, const int16_t *b, int16_t *output) {
  for (int32_t n = 0; n < size->batches; ++n) {
    for (int32_t i = 0; i < size->rows; ++i) {
      for (int32_t j = 0; j < size->columns; ++j) {
        int64_t sum = 0;
        for (int32_t k = 0; k < size->inner; ++k) {
          const int32_t value_a = a[n * size->a.batch + i * size->a.row + k * size->a.column];
          const int32_t value_b = b[n * size->b.batch + k * size->b.row + j * size->b.column];
          sum += value_a * value_b;
        }
        const int32_t scaled = dmo_requantize_wide(sum, params->output.multiplier, params->output.shift);
        output[(n * size->rows + i) * size->columns + j] =
            (int16_t)dmo_clamp(scaled, params->activation_min, params->activation_max);
      }
    }
  }
}
