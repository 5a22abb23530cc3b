// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_matmul.h"

void dmo_matmul_s8(const dmo_matmul_size *size, const int8_t *a, const int8_t *b, int32_t *c) {
  for (int32_t i = 0; i < size->rows * size->columns; ++i) {
    c[i] = 0;
  }
  for (int32_t k = 0; k < size->inner; ++k) {
    for (int32_t i = 0; i < size->rows; ++i) {
      for (int32_t j = 0; j < size->columns; ++j) {
        c[i * size->columns + j] += (int32_t)a[i * size->inner + k] * b[k * size->columns + j];
      }
    }
  }
}
