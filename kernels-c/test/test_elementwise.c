// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle.h"

#include <stdlib.h>

enum { CASES = 3000 };

static dmo_quant_per_tensor random_quant(int32_t min_shift, int32_t max_shift) {
  return (dmo_quant_per_tensor){ random_between(1 << 30, INT32_MAX), random_between(min_shift, max_shift) };
}

static void relu_s8(void) {
  const int32_t count = random_between(1, 200);
  const int32_t zero_point = random_between(-128, 127);
  const dmo_relu_params params = {
    .input_offset = random_between(-127, 128),
    .output_offset = zero_point,
    .output = random_quant(-3, 3),
    .activation_min = zero_point,
    .activation_max = random_between(zero_point, 127),
  };
  int8_t *input = random_s8(count);
  int8_t *output = random_s8(count);

  dmo_relu_s8(&params, count, input, output);
  int32_t i = 0;
  while (i < count && output[i] == oracle_relu_s8(&params, input, i)) {
    ++i;
  }
  CHECK(i == count, "relu_s8", i);
  free(input), free(output);
}

static void relu_f32(const char *name, void (*kernel)(int32_t, const float *, float *), double max) {
  const int32_t count = random_between(1, 200);
  float *input = random_f32(count);
  float *output = random_f32(count);
  for (int32_t i = 0; i < count; ++i) {
    input[i] *= 3.0f;
  }

  kernel(count, input, output);
  int32_t i = 0;
  while (i < count && (double)output[i] == oracle_clamp_f64((double)input[i], 0.0, max)) {
    ++i;
  }
  CHECK(i == count, name, i);
  free(input), free(output);
}

static void add_s8(void) {
  const int32_t count = random_between(1, 200);
  const dmo_add_params params = {
    .input1_offset = random_between(-127, 128),
    .input2_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .input1 = random_quant(-6, 0),
    .input2 = random_quant(-6, 0),
    .output = random_quant(-20, -15),
    .activation_min = random_between(-128, 0),
    .activation_max = random_between(0, 127),
  };
  int8_t *input1 = random_s8(count);
  int8_t *input2 = random_s8(count);
  int8_t *output = random_s8(count);

  dmo_add_s8(&params, count, input1, input2, output);
  int32_t i = 0;
  while (i < count && output[i] == oracle_add_s8(&params, input1, input2, i)) {
    ++i;
  }
  CHECK(i == count, "add_s8", i);
  free(input1), free(input2), free(output);
}

static void mul_s8(void) {
  const int32_t count = random_between(1, 200);
  const dmo_mul_params params = {
    .input1_offset = random_between(-127, 128),
    .input2_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .output = random_quant(-10, 1),
    .activation_min = random_between(-128, 0),
    .activation_max = random_between(0, 127),
  };
  int8_t *input1 = random_s8(count);
  int8_t *input2 = random_s8(count);
  int8_t *output = random_s8(count);

  dmo_mul_s8(&params, count, input1, input2, output);
  int32_t i = 0;
  while (i < count && output[i] == oracle_mul_s8(&params, input1, input2, i)) {
    ++i;
  }
  CHECK(i == count, "mul_s8", i);
  free(input1), free(input2), free(output);
}

static void add_and_mul_f32(void) {
  const int32_t count = random_between(1, 200);
  const float min = (float)random_between(-8, 0);
  const float max = (float)random_between(0, 8);
  float *input1 = random_f32(count);
  float *input2 = random_f32(count);
  float *sum = random_f32(count);
  float *product = random_f32(count);

  dmo_add_f32(min, max, count, input1, input2, sum);
  dmo_mul_f32(min, max, count, input1, input2, product);
  int32_t i = 0;
  while (i < count) {
    const double a = (double)input1[i], b = (double)input2[i];
    if ((double)sum[i] != oracle_clamp_f64(a + b, (double)min, (double)max) ||
        (double)product[i] != oracle_clamp_f64(a * b, (double)min, (double)max)) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "add_f32 or mul_f32", i);
  free(input1), free(input2), free(sum), free(product);
}

void test_elementwise(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    relu_s8();
    relu_f32("relu_f32", dmo_relu_f32, 1e9);
    relu_f32("relu6_f32", dmo_relu6_f32, 6.0);
    add_s8();
    mul_s8();
    add_and_mul_f32();
  }
}
