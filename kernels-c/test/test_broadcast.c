// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_operators.h"

#include <stdlib.h>

enum { CASES = 3000 };

static int32_t maybe_one(int32_t extent) {
  return random_between(0, 2) == 0 ? 1 : extent;
}

static dmo_shape broadcast_of(const dmo_shape *shape) {
  return (dmo_shape){ maybe_one(shape->n), maybe_one(shape->h), maybe_one(shape->w), maybe_one(shape->c) };
}

// On each axis at least one input has the output's extent.
static dmo_shape joined(const dmo_shape *a, const dmo_shape *b) {
  return (dmo_shape){ a->n * b->n / (a->n == b->n ? a->n : 1), a->h * b->h / (a->h == b->h ? a->h : 1),
                      a->w * b->w / (a->w == b->w ? a->w : 1), a->c * b->c / (a->c == b->c ? a->c : 1) };
}

static dmo_quant_per_tensor random_quant(int32_t min_shift, int32_t max_shift) {
  return (dmo_quant_per_tensor){ random_between(1 << 30, INT32_MAX), random_between(min_shift, max_shift) };
}

static void broadcast_s8(void) {
  const dmo_shape full = random_shape(3, 4, 4, 5);
  const dmo_shape shape1 = broadcast_of(&full), shape2 = broadcast_of(&full), out = joined(&shape1, &shape2);
  const int32_t count = dmo_shape_size(&out);
  const dmo_add_params add = {
    .input1_offset = random_between(-127, 128),
    .input2_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .input1 = random_quant(-6, 0),
    .input2 = random_quant(-6, 0),
    .output = random_quant(-20, -15),
    .activation_min = random_between(-128, 0),
    .activation_max = random_between(0, 127),
  };
  const dmo_mul_params mul = {
    .input1_offset = add.input1_offset,
    .input2_offset = add.input2_offset,
    .output_offset = add.output_offset,
    .output = random_quant(-10, 1),
    .activation_min = add.activation_min,
    .activation_max = add.activation_max,
  };
  int8_t *input1 = edgy_s8(dmo_shape_size(&shape1)), *input2 = edgy_s8(dmo_shape_size(&shape2));
  int8_t *sum = edgy_s8(count), *difference = edgy_s8(count), *product = edgy_s8(count);
  int8_t *maximum = edgy_s8(count), *minimum = edgy_s8(count);

  dmo_broadcast_add_s8(&add, &shape1, input1, &shape2, input2, &out, sum);
  dmo_broadcast_sub_s8(&add, &shape1, input1, &shape2, input2, &out, difference);
  dmo_broadcast_mul_s8(&mul, &shape1, input1, &shape2, input2, &out, product);
  dmo_maximum_s8(&shape1, input1, &shape2, input2, &out, maximum);
  dmo_minimum_s8(&shape1, input1, &shape2, input2, &out, minimum);
  int32_t i = 0;
  while (i < count) {
    const int8_t a = input1[oracle_broadcast_source(&shape1, &out, i)];
    const int8_t b = input2[oracle_broadcast_source(&shape2, &out, i)];
    if (sum[i] != oracle_add_s8(&add, &a, &b, 0) || difference[i] != oracle_sub_s8(&add, a, b) ||
        product[i] != oracle_mul_s8(&mul, &a, &b, 0) || maximum[i] != oracle_clamp(a, b, 127) ||
        minimum[i] != oracle_clamp(a, -128, b)) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "broadcast s8", i);
  free(input1), free(input2), free(sum), free(difference), free(product), free(maximum), free(minimum);
}

static void broadcast_f32(void) {
  const dmo_shape full = random_shape(3, 4, 4, 5);
  const dmo_shape shape1 = broadcast_of(&full), shape2 = broadcast_of(&full), out = joined(&shape1, &shape2);
  const int32_t count = dmo_shape_size(&out);
  const dmo_binary_f32_params params = { (float)random_between(-8, 0), (float)random_between(0, 8) };
  const double min = (double)params.activation_min, max = (double)params.activation_max;
  float *input1 = random_f32(dmo_shape_size(&shape1)), *input2 = random_f32(dmo_shape_size(&shape2));
  float *sum = random_f32(count), *difference = random_f32(count), *product = random_f32(count);
  float *maximum = random_f32(count), *minimum = random_f32(count);

  dmo_broadcast_add_f32(&params, &shape1, input1, &shape2, input2, &out, sum);
  dmo_broadcast_sub_f32(&params, &shape1, input1, &shape2, input2, &out, difference);
  dmo_broadcast_mul_f32(&params, &shape1, input1, &shape2, input2, &out, product);
  dmo_maximum_f32(&shape1, input1, &shape2, input2, &out, maximum);
  dmo_minimum_f32(&shape1, input1, &shape2, input2, &out, minimum);
  int32_t i = 0;
  while (i < count) {
    const double a = (double)input1[oracle_broadcast_source(&shape1, &out, i)];
    const double b = (double)input2[oracle_broadcast_source(&shape2, &out, i)];
    if ((double)sum[i] != oracle_clamp_f64(a + b, min, max) ||
        (double)difference[i] != oracle_clamp_f64(a - b, min, max) ||
        (double)product[i] != oracle_clamp_f64(a * b, min, max) || (double)maximum[i] != oracle_clamp_f64(a, b, 99.0) ||
        (double)minimum[i] != oracle_clamp_f64(a, -99.0, b)) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "broadcast f32", i);
  free(input1), free(input2), free(sum), free(difference), free(product), free(maximum), free(minimum);
}

void test_broadcast(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    broadcast_s8();
    broadcast_f32();
  }
}
