// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_operators.h"

#include <stdlib.h>

enum { CASES = 3000 };

static dmo_batched_matmul_size random_size(void) {
  return (dmo_batched_matmul_size){ random_between(1, 3), random_between(1, 8), random_between(1, 20),
                                    random_between(1, 8) };
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
    batched_matmul_f32();
  }
}
