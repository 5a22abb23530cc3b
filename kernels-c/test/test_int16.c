// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_operators.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 3000 };

static int32_t activation_min(void) {
  return random_between(0, 1) == 0 ? -32768 : random_between(-32768, 0);
}

static int32_t activation_max(void) {
  return random_between(0, 1) == 0 ? 32767 : random_between(0, 32767);
}

static void requantize_wide(void) {
  const int32_t shift = random_between(-31, 7);
  // The largest value whose result still fits 32 bits, at most 2^47.
  const int32_t bits = 31 - shift < 47 ? 31 - shift : 47;
  const int64_t limit = INT64_C(1) << bits;
  const int64_t high = random_between(INT32_MIN, INT32_MAX), low = random_between(0, 65535);
  const int64_t value = random_between(0, 15) == 0 ? -limit : (high * 65536 + low) % limit;
  const int32_t multiplier = random_between(0, 7) == 0 ? random_between(0x7ffe0000, INT32_MAX)
                                                       : random_between(1 << 30, INT32_MAX);
  CHECK(dmo_requantize_wide(value, multiplier, shift) == oracle_requantize_wide(value, multiplier, shift),
        "requantize_wide", value);
}

typedef __typeof__(dmo_conv2d_s16) conv_kernel;
typedef __typeof__(oracle_conv2d_s16) conv_oracle;

static void convolution(const char *what, conv_shapes s, conv_kernel *kernel, conv_oracle *oracle) {
  const dmo_conv2d_params params = {
    .geometry = random_conv_geometry(),
    .activation_min = activation_min(),
    .activation_max = activation_max(),
  };
  const bool wide = random_between(0, 3) == 0; // sums beyond 32 bits
  int32_t *multiplier = random_s32(s.out.c, 1 << 30, INT32_MAX);
  int32_t *shift = wide ? random_s32(s.out.c, -28, -14) : random_s32(s.out.c, -12, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };
  int16_t *input = edgy_s16(dmo_shape_size(&s.in)), *output = edgy_s16(dmo_shape_size(&s.out));
  int8_t *filter = edgy_s8(dmo_shape_size(&s.taps));
  int64_t *bias = random_between(0, 3) == 0 ? NULL : random_s64(s.out.c, -5000000, 5000000, wide ? 1 << 21 : 1);

  kernel(&params, &quant, &s.in, input, &s.taps, filter, bias, &s.out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&s.out) &&
         output[i] == oracle(&params, &quant, &s.in, input, &s.taps, filter, bias, &s.out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&s.out), what, i);
  free(multiplier), free(shift), free(input), free(output), free(filter), free(bias);
}

static void fully_connected_s16(void) {
  const int32_t batches = random_between(1, 3), inputs = random_between(1, 40), outputs = random_between(1, 20);
  const dmo_fully_connected_params params = { .activation_min = activation_min(), .activation_max = activation_max() };
  const bool wide = random_between(0, 3) == 0; // sums beyond 32 bits
  const dmo_quant_per_tensor quant = { random_between(1 << 30, INT32_MAX),
                                       wide ? random_between(-28, -14) : random_between(-12, 1) };
  int16_t *input = edgy_s16(batches * inputs), *output = edgy_s16(batches * outputs);
  int8_t *filter = edgy_s8(outputs * inputs);
  int64_t *bias = random_between(0, 3) == 0 ? NULL : random_s64(outputs, -5000000, 5000000, wide ? 1 << 21 : 1);

  dmo_fully_connected_s16(&params, &quant, batches, inputs, outputs, input, filter, bias, output);
  int32_t i = 0;
  while (i < batches * outputs &&
         output[i] == oracle_fully_connected_s16(&params, &quant, inputs, outputs, input, filter, bias, i)) {
    ++i;
  }
  CHECK(i == batches * outputs, "fully_connected_s16", i);
  free(input), free(output), free(filter), free(bias);
}

static void pools_s16(void) {
  const dmo_shape in = random_shape(2, 8, 8, 5);
  dmo_pool_params params = {
    .geometry = { .filter_h = random_between(1, 4), .filter_w = random_between(1, 4),
                  .stride_h = random_between(1, 3), .stride_w = random_between(1, 3) },
    .activation_min = activation_min(),
    .activation_max = activation_max(),
  };
  dmo_pool_geometry *g = &params.geometry;
  g->pad_h = random_between(0, g->filter_h - 1);
  g->pad_w = random_between(0, g->filter_w - 1);
  const dmo_shape out = { in.n, random_between(1, (in.h - 1 + g->pad_h) / g->stride_h + 1),
                          random_between(1, (in.w - 1 + g->pad_w) / g->stride_w + 1), in.c };
  int16_t *input = edgy_s16(dmo_shape_size(&in));
  int16_t *max = edgy_s16(dmo_shape_size(&out)), *average = edgy_s16(dmo_shape_size(&out));

  dmo_max_pool_s16(&params, &in, input, &out, max);
  dmo_avg_pool_s16(&params, &in, input, &out, average);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) && max[i] == oracle_max_pool_s16(&params, &in, input, &out, i) &&
         average[i] == oracle_avg_pool_s16(&params, &in, input, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "max_pool_s16 or avg_pool_s16", i);
  free(input), free(max), free(average);
}

static dmo_quant_per_tensor random_quant(int32_t min_shift, int32_t max_shift) {
  return (dmo_quant_per_tensor){ random_between(1 << 30, INT32_MAX), random_between(min_shift, max_shift) };
}

static void elementwise_s16(void) {
  const int32_t count = random_between(1, 200);
  const dmo_add_params add = { .input1 = random_quant(-6, 0), .input2 = random_quant(-6, 0),
                               .output = random_quant(-18, -12), .activation_min = activation_min(),
                               .activation_max = activation_max() };
  const dmo_mul_params mul = { .output = random_quant(-18, 0), .activation_min = activation_min(),
                               .activation_max = activation_max() };
  const dmo_relu_params relu = { .output = random_quant(-3, 3), .activation_min = 0,
                                 .activation_max = activation_max() };
  int16_t *input1 = edgy_s16(count), *input2 = edgy_s16(count);
  int16_t *sum = edgy_s16(count), *product = edgy_s16(count), *rectified = edgy_s16(count);

  dmo_add_s16(&add, count, input1, input2, sum);
  dmo_mul_s16(&mul, count, input1, input2, product);
  dmo_relu_s16(&relu, count, input1, rectified);
  int32_t i = 0;
  while (i < count && sum[i] == oracle_add_s16(&add, input1, input2, i) &&
         product[i] == oracle_mul_s16(&mul, input1, input2, i) &&
         rectified[i] == oracle_relu_s16(&relu, input1, i)) {
    ++i;
  }
  CHECK(i == count, "add_s16, mul_s16 or relu_s16", i);
  free(input1), free(input2), free(sum), free(product), free(rectified);
}

static void mean_s16(void) {
  const dmo_shape in = random_shape(3, 9, 9, 6);
  const dmo_shape out = { in.n, 1, 1, in.c };
  const dmo_mean_params params = { .output = random_quant(-8, 3) };
  int16_t *input = edgy_s16(dmo_shape_size(&in)), *output = edgy_s16(dmo_shape_size(&out));

  dmo_mean_s16(&params, &in, input, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) && output[i] == oracle_mean_s16(&params, &in, input, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "mean_s16", i);
  free(input), free(output);
}

static void softmax_s16(const int16_t *exp_table, const int16_t *reciprocal_table) {
  const int32_t rows = random_between(1, 3), depth = random_between(1, 60);
  const double scale = exp2((double)random_between(-1700, -1000) / 100.0);
  int shift;
  const double fraction = frexp(scale * 6553.5, &shift);
  const dmo_softmax_s16_params params = { { (int32_t)fmin(fraction * 2147483648.0, 2147483647.0), shift } };
  int16_t *input = edgy_s16(rows * depth), *output = edgy_s16(rows * depth), *in_place = edgy_s16(rows * depth);
  for (int32_t i = 0; i < rows * depth; ++i) {
    in_place[i] = input[i];
  }

  dmo_softmax_s16(&params, rows, depth, input, exp_table, reciprocal_table, output);
  dmo_softmax_s16(&params, rows, depth, in_place, exp_table, reciprocal_table, in_place);
  int32_t i = 0;
  while (i < rows * depth) {
    const int16_t *row = &input[i / depth * depth];
    int32_t max = row[0];
    for (int32_t j = 1; j < depth; ++j) {
      max = row[j] > max ? row[j] : max;
    }
    // The table ends at exp(-10): what lies further below counts as that.
    double sum = 0.0;
    for (int32_t j = 0; j < depth; ++j) {
      sum += exp(fmax(scale * (double)(row[j] - max), -10.0));
    }
    const double real = 32768.0 * exp(fmax(scale * (double)(input[i] - max), -10.0)) / sum;
    if (output[i] != oracle_softmax_s16(&params, depth, input, exp_table, reciprocal_table, i) ||
        fabs((double)output[i] - fmin(real, 32767.0)) > 4.0 + 0.5 * (double)depth || in_place[i] != output[i]) {
      break;
    }
    ++i;
  }
  CHECK(i == rows * depth, "softmax_s16", i);
  free(input), free(output), free(in_place);
}

static int16_t table_entry(double value) {
  return (int16_t)fmin(round(value * 32768.0), 32767.0);
}

void test_int16(void) {
  int16_t exp_table[DMO_TABLE_SIZE], reciprocal_table[DMO_TABLE_SIZE];
  for (int32_t i = 0; i < DMO_TABLE_SIZE; ++i) {
    exp_table[i] = table_entry(exp(-10.0 + 10.0 * (double)i / 512.0));
    reciprocal_table[i] = table_entry(1.0 / (1.0 + (double)i / 512.0));
  }
  for (int32_t n = 0; n < 30000; ++n) {
    requantize_wide();
  }
  for (int32_t n = 0; n < CASES; ++n) {
    convolution("conv2d_s16", random_conv_shapes(), dmo_conv2d_s16, oracle_conv2d_s16);
    convolution("depthwise_conv2d_s16", random_depthwise_shapes(), dmo_depthwise_conv2d_s16,
                oracle_depthwise_conv2d_s16);
    fully_connected_s16();
    pools_s16();
    elementwise_s16();
    mean_s16();
    softmax_s16(exp_table, reciprocal_table);
  }
}
