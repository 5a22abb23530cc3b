// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_batched_matmul.h"

void dmo_batched_matmul_f32(const dmo_batched_matmul_size *size, const float *a, const float *b, float *output) {
  for (int32_t n = 0; n < size->batches; ++n) {
    for (int32_t i = 0; i < size->rows; ++i) {
      for (int32_t j = 0; j < size->columns; ++j) {
        float sum = 0.0f;
        for (int32_t k = 0; k < size->inner; ++k) {
          const float value_a = a[n * size->a.batch + i * size->a.row + k * size->a.column];
          const float value_b = b[n * size->b.batch + k * size->b.row + j * size->b.column];
          sum += value_a * value_b;
        }
        output[(n * size->rows + i) * size->columns + j] = sum;
      }
    }
  }
}
