// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle_operators.h"

// The first elements of the row of a and of the column of b that meet in one output element.
typedef struct {
  int64_t a, b;
} crossing;

static crossing crossing_of(const dmo_batched_matmul_size *size, int32_t index) {
  const dmo_shape shape = { 1, size->batches, size->rows, size->columns };
  const oracle_position at = oracle_position_of(&shape, index);
  return (crossing){
    .a = (int64_t)at.h * size->a.batch + (int64_t)at.w * size->a.row,
    .b = (int64_t)at.h * size->b.batch + (int64_t)at.c * size->b.column,
  };
}

int32_t oracle_batched_matmul_s8(const dmo_batched_matmul_params *params, const dmo_batched_matmul_size *size,
                                 const int8_t *a, const int8_t *b, int32_t index) {
  const crossing at = crossing_of(size, index);
  int64_t sum = 0;
  for (int64_t k = size->inner - 1; k >= 0; --k) {
    sum += ((int64_t)a[at.a + k * size->a.column] + params->a_offset) *
           ((int64_t)b[at.b + k * size->b.row] + params->b_offset);
  }
  const int64_t value = oracle_requantize(sum, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(value + params->output_offset, params->activation_min, params->activation_max);
}

int32_t oracle_batched_matmul_s16(const dmo_batched_matmul_params *params, const dmo_batched_matmul_size *size,
                                  const int16_t *a, const int16_t *b, int32_t index) {
  const crossing at = crossing_of(size, index);
  int64_t sum = 0;
  for (int64_t k = size->inner - 1; k >= 0; --k) {
    sum += (int64_t)a[at.a + k * size->a.column] * b[at.b + k * size->b.row];
  }
  const int64_t value = oracle_requantize_wide(sum, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

float oracle_batched_matmul_f32(const dmo_batched_matmul_size *size, const float *a, const float *b, int32_t index) {
  const crossing at = crossing_of(size, index);
  double sum = 0.0;
  for (int64_t k = size->inner - 1; k >= 0; --k) {
    sum += (double)a[at.a + k * size->a.column] * (double)b[at.b + k * size->b.row];
  }
  return (float)sum;
}
