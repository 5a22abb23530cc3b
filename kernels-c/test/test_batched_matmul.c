// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_operators.h"

#include <stdlib.h>

enum { CASES = 3000 };

// One for each batch or one for all of them, as it is or transposed.
static dmo_matrix_strides random_strides(int32_t rows, int32_t columns) {
  const int32_t batch = random_between(0, 1) * rows * columns;
  return random_between(0, 1) ? (dmo_matrix_strides){ batch, columns, 1 } : (dmo_matrix_strides){ batch, 1, rows };
}

static dmo_batched_matmul_size random_size(void) {
  dmo_batched_matmul_size size = { .batches = random_between(1, 3), .rows = random_between(1, 8),
                                   .inner = random_between(1, 20), .columns = random_between(1, 8) };
  size.a = random_strides(size.rows, size.inner);
  size.b = random_strides(size.inner, size.columns);
  return size;
}

static void batched_matmul_s8(void) {
  const dmo_batched_matmul_size size = random_size();
  const int32_t count = size.batches * size.rows * size.columns;
  const dmo_batched_matmul_params params = {
    .a_offset = random_between(-127, 128),
    .b_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .output = { random_between(1 << 30, INT32_MAX), random_between(-14, 1) },
    .activation_min = random_between(-128, 0),
    .activation_max = random_between(0, 127),
  };
  int8_t *a = edgy_s8(size.batches * size.rows * size.inner), *b = edgy_s8(size.batches * size.inner * size.columns);
  int8_t *output = edgy_s8(count);

  dmo_batched_matmul_s8(&params, &size, a, b, output);
  int32_t i = 0;
  while (i < count && output[i] == oracle_batched_matmul_s8(&params, &size, a, b, i)) {
    ++i;
  }
  CHECK(i == count, "batched_matmul_s8", i);
  free(a), free(b), free(output);
}

static void batched_matmul_s16(void) {
  const dmo_batched_matmul_size size = random_size();
  const int32_t count = size.batches * size.rows * size.columns;
  const dmo_batched_matmul_params params = {
    .output = { random_between(1 << 30, INT32_MAX), random_between(-22, -5) },
    .activation_min = random_between(-32768, 0),
    .activation_max = random_between(0, 32767),
  };
  int16_t *a = edgy_s16(size.batches * size.rows * size.inner), *b = edgy_s16(size.batches * size.inner * size.columns);
  int16_t *output = edgy_s16(count);

  dmo_batched_matmul_s16(&params, &size, a, b, output);
  int32_t i = 0;
  while (i < count && output[i] == oracle_batched_matmul_s16(&params, &size, a, b, i)) {
    ++i;
  }
  CHECK(i == count, "batched_matmul_s16", i);
  free(a), free(b), free(output);
}

static void batched_matmul_f32(void) {
  const dmo_batched_matmul_size size = random_size();
  const int32_t count = size.batches * size.rows * size.columns;
  float *a = random_f32(size.batches * size.rows * size.inner);
  float *b = random_f32(size.batches * size.inner * size.columns);
  float *output = random_f32(count);

  dmo_batched_matmul_f32(&size, a, b, output);
  int32_t i = 0;
  while (i < count && output[i] == oracle_batched_matmul_f32(&size, a, b, i)) {
    ++i;
  }
  CHECK(i == count, "batched_matmul_f32", i);
  free(a), free(b), free(output);
}

void test_batched_matmul(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    batched_matmul_s8();
    batched_matmul_s16();
    batched_matmul_f32();
  }
}
