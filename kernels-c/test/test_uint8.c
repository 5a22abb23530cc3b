// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_uint8.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 3000 };

// The bits of edgy_s8, unsigned: one array in eight has only 0, 1, 127, 128 and 255.
static uint8_t *edgy_u8(int32_t count) {
  return (uint8_t *)edgy_s8(count);
}

static dmo_conv2d_u8_params random_params(void) {
  const int32_t min = random_between(0, 255);
  return (dmo_conv2d_u8_params){
    .geometry = random_conv_geometry(),
    .input_offset = random_between(-255, 0),
    .filter_offset = random_between(-255, 0),
    .output_offset = random_between(0, 255),
    .activation_min = min,
    .activation_max = random_between(min, 255),
  };
}

static dmo_quant_per_tensor random_quant(void) {
  return (dmo_quant_per_tensor){ random_between(1 << 30, INT32_MAX), random_between(-14, 1) };
}

typedef __typeof__(dmo_conv2d_u8) conv_kernel;
typedef __typeof__(oracle_conv2d_u8) conv_oracle;

static void convolution(const char *what, conv_shapes s, conv_kernel *kernel, conv_oracle *oracle) {
  const dmo_conv2d_u8_params params = random_params();
  const dmo_quant_per_tensor quant = random_quant();
  uint8_t *input = edgy_u8(dmo_shape_size(&s.in)), *filter = edgy_u8(dmo_shape_size(&s.taps));
  uint8_t *output = edgy_u8(dmo_shape_size(&s.out));
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(s.out.c, -20000, 20000);

  kernel(&params, &quant, &s.in, input, &s.taps, filter, bias, &s.out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&s.out) &&
         output[i] == oracle(&params, &quant, &s.in, input, &s.taps, filter, bias, &s.out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&s.out), what, i);
  free(input), free(filter), free(output), free(bias);
}

static void fully_connected(void) {
  const int32_t batches = random_between(1, 3), inputs = random_between(1, 40), outputs = random_between(1, 20);
  const dmo_fully_connected_params params = {
    .input_offset = random_between(-255, 0),
    .filter_offset = random_between(-255, 0),
    .output_offset = random_between(0, 255),
    .activation_min = random_between(0, 100),
    .activation_max = random_between(100, 255),
  };
  const dmo_quant_per_tensor quant = random_quant();
  uint8_t *input = edgy_u8(batches * inputs), *filter = edgy_u8(outputs * inputs), *output = edgy_u8(batches * outputs);
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(outputs, -20000, 20000);

  dmo_fully_connected_u8(&params, &quant, batches, inputs, outputs, input, filter, bias, output);
  int32_t i = 0;
  while (i < batches * outputs &&
         output[i] == oracle_fully_connected_u8(&params, &quant, inputs, outputs, input, filter, bias, i)) {
    ++i;
  }
  CHECK(i == batches * outputs, "fully_connected_u8", i);
  free(input), free(filter), free(output), free(bias);
}

static void pools(void) {
  const dmo_shape in = random_shape(2, 8, 8, 5);
  const int32_t filter_h = random_between(1, 4), filter_w = random_between(1, 4);
  const dmo_pool_params params = {
    .geometry = { filter_h, filter_w, random_between(1, 3), random_between(1, 3), random_between(0, filter_h - 1),
                  random_between(0, filter_w - 1) },
    .activation_min = random_between(0, 100),
    .activation_max = random_between(100, 255),
  };
  // An output in which every window meets the input.
  const dmo_shape out = {
    in.n,
    random_between(1, (in.h - 1 + params.geometry.pad_h) / params.geometry.stride_h + 1),
    random_between(1, (in.w - 1 + params.geometry.pad_w) / params.geometry.stride_w + 1),
    in.c,
  };
  uint8_t *input = edgy_u8(dmo_shape_size(&in));
  uint8_t *max = edgy_u8(dmo_shape_size(&out)), *average = edgy_u8(dmo_shape_size(&out));

  dmo_max_pool_u8(&params, &in, input, &out, max);
  dmo_avg_pool_u8(&params, &in, input, &out, average);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) && max[i] == oracle_max_pool_u8(&params, &in, input, &out, i) &&
         average[i] == oracle_avg_pool_u8(&params, &in, input, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "max_pool_u8 or avg_pool_u8", i);
  free(input), free(max), free(average);
}

static void add(void) {
  const int32_t count = random_between(1, 100);
  const dmo_add_params params = {
    .input1_offset = random_between(-255, 0),
    .input2_offset = random_between(-255, 0),
    .output_offset = random_between(0, 255),
    .input1 = { random_between(1 << 30, INT32_MAX), random_between(-6, 0) },
    .input2 = { random_between(1 << 30, INT32_MAX), random_between(-6, 0) },
    .output = { random_between(1 << 30, INT32_MAX), random_between(-22, -16) },
    .activation_min = random_between(0, 100),
    .activation_max = random_between(100, 255),
  };
  uint8_t *input1 = edgy_u8(count), *input2 = edgy_u8(count), *output = edgy_u8(count);

  dmo_add_u8(&params, count, input1, input2, output);
  int32_t i = 0;
  while (i < count && output[i] == oracle_add_u8(&params, input1, input2, i)) {
    ++i;
  }
  CHECK(i == count, "add_u8", i);
  free(input1), free(input2), free(output);
}

static void softmax(int32_t depth, double input_scale) {
  const int32_t rows = random_between(1, 3);
  int shift;
  const double fraction = frexp(input_scale * 67108864.0, &shift);
  const double diff_min = -floor(31.0 * 67108864.0 / ldexp(1.0, shift));
  const dmo_softmax_params params = {
    { (int32_t)fmin(round(fraction * 2147483648.0), 2147483647.0), shift },
    (int32_t)diff_min,
  };
  uint8_t *input = edgy_u8(rows * depth), *output = edgy_u8(rows * depth);

  dmo_softmax_u8(&params, rows, depth, input, output);
  int32_t i = 0;
  while (i < rows * depth) {
    const double exact = oracle_softmax_u8(input_scale, depth, input, i) * 256.0;
    if (fabs((double)output[i] - fmin(exact, 255.0)) > 1.0) {
      break;
    }
    ++i;
  }
  CHECK(i == rows * depth, "softmax_u8", i);
  free(input), free(output);
}

void test_uint8(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    convolution("conv2d_u8", random_conv_shapes(), dmo_conv2d_u8, oracle_conv2d_u8);
    convolution("depthwise_conv2d_u8", random_depthwise_shapes(), dmo_depthwise_conv2d_u8,
                oracle_depthwise_conv2d_u8);
    fully_connected();
    pools();
    add();
    softmax(random_between(1, 60), exp2((double)random_between(-800, 100) / 100.0));
  }
  for (int32_t n = 0; n < 5; ++n) {
    softmax(4095, exp2((double)random_between(-2000, 100) / 100.0));
  }
}
