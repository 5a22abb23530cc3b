// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle.h"

#include <stdlib.h>

enum { CASES = 4000 };

static void fully_connected_s8(void) {
  const int32_t batches = random_between(1, 3);
  const int32_t inputs = random_between(1, 40);
  const int32_t outputs = random_between(1, 20);
  const dmo_fully_connected_params params = {
    .input_offset = random_between(-127, 128),
    .filter_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .activation_min = random_between(-128, 0),
    .activation_max = random_between(0, 127),
  };
  const dmo_quant_per_tensor quant = { random_between(1 << 30, INT32_MAX), random_between(-12, 1) };
  int8_t *input = random_s8(batches * inputs);
  int8_t *filter = random_s8(outputs * inputs);
  int8_t *output = random_s8(batches * outputs);
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(outputs, -5000, 5000);

  dmo_fully_connected_s8(&params, &quant, batches, inputs, outputs, input, filter, bias, output);
  int32_t i = 0;
  while (i < batches * outputs &&
         output[i] == oracle_fully_connected_s8(&params, &quant, inputs, outputs, input, filter, bias, i)) {
    ++i;
  }
  CHECK(i == batches * outputs, "fully_connected_s8", i);
  free(input), free(filter), free(output), free(bias);
}

static void fully_connected_f32(void) {
  const int32_t batches = random_between(1, 3);
  const int32_t inputs = random_between(1, 40);
  const int32_t outputs = random_between(1, 20);
  const dmo_fully_connected_f32_params params = { (float)random_between(-100, 0), (float)random_between(0, 100) };
  float *input = random_f32(batches * inputs);
  float *filter = random_f32(outputs * inputs);
  float *output = random_f32(batches * outputs);
  float *bias = random_between(0, 3) == 0 ? NULL : random_f32(outputs);

  dmo_fully_connected_f32(&params, batches, inputs, outputs, input, filter, bias, output);
  int32_t i = 0;
  while (i < batches * outputs &&
         output[i] == oracle_fully_connected_f32(&params, inputs, outputs, input, filter, bias, i)) {
    ++i;
  }
  CHECK(i == batches * outputs, "fully_connected_f32", i);
  free(input), free(filter), free(output), free(bias);
}

static void matmul_s8(void) {
  const dmo_matmul_size size = { random_between(1, 12), random_between(1, 12), random_between(1, 12) };
  int8_t *a = random_s8(size.rows * size.inner);
  int8_t *b = random_s8(size.inner * size.columns);
  int32_t *c = random_s32(size.rows * size.columns, INT32_MIN, INT32_MAX);

  dmo_matmul_s8(&size, a, b, c);
  int32_t i = 0;
  while (i < size.rows * size.columns && c[i] == oracle_matmul_s8(&size, a, b, i)) {
    ++i;
  }
  CHECK(i == size.rows * size.columns, "matmul_s8", i);
  free(a), free(b), free(c);
}

static void matmul_f32(void) {
  const dmo_matmul_size size = { random_between(1, 12), random_between(1, 12), random_between(1, 12) };
  float *a = random_f32(size.rows * size.inner);
  float *b = random_f32(size.inner * size.columns);
  float *c = random_f32(size.rows * size.columns);

  dmo_matmul_f32(&size, a, b, c);
  int32_t i = 0;
  while (i < size.rows * size.columns && c[i] == oracle_matmul_f32(&size, a, b, i)) {
    ++i;
  }
  CHECK(i == size.rows * size.columns, "matmul_f32", i);
  free(a), free(b), free(c);
}

void test_matmul(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    fully_connected_s8();
    fully_connected_f32();
    matmul_s8();
    matmul_f32();
  }
}
