// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle.h"

#include <stdlib.h>

enum { CASES = 4000 };

static dmo_conv_geometry random_geometry(void) {
  return (dmo_conv_geometry){
    .stride_h = random_between(1, 3),
    .stride_w = random_between(1, 3),
    .dilation_h = random_between(1, 3),
    .dilation_w = random_between(1, 3),
    .pad_h = random_between(0, 4),
    .pad_w = random_between(0, 4),
  };
}

static dmo_conv2d_params random_params(void) {
  const int32_t min = random_between(-128, 0);
  return (dmo_conv2d_params){
    .geometry = random_geometry(),
    .input_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .activation_min = min,
    .activation_max = random_between(min, 127),
  };
}

static dmo_conv2d_f32_params random_params_f32(void) {
  return (dmo_conv2d_f32_params){
    .geometry = random_geometry(),
    .activation_min = (float)random_between(-100, 0),
    .activation_max = (float)random_between(0, 100),
  };
}

static void conv2d_s8(void) {
  const int32_t groups = random_between(1, 3);
  const int32_t depth = random_between(1, 4);
  const int32_t filters = groups * random_between(1, 4);
  const dmo_shape in = { random_between(1, 2), random_between(1, 8), random_between(1, 8), groups * depth };
  const dmo_shape taps = { filters, random_between(1, 4), random_between(1, 4), depth };
  const dmo_shape out = { in.n, random_between(1, 6), random_between(1, 6), filters };
  const dmo_conv2d_params params = random_params();
  int8_t *input = random_s8(dmo_shape_size(&in));
  int8_t *filter = random_s8(dmo_shape_size(&taps));
  int8_t *output = random_s8(dmo_shape_size(&out));
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(filters, -5000, 5000);
  int32_t *multiplier = random_s32(filters, 1 << 30, INT32_MAX);
  int32_t *shift = random_s32(filters, -12, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };

  dmo_conv2d_s8(&params, &quant, &in, input, &taps, filter, bias, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) &&
         output[i] == oracle_conv2d_s8(&params, &quant, &in, input, &taps, filter, bias, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "conv2d_s8", i);
  free(input), free(filter), free(output), free(bias), free(multiplier), free(shift);
}

static void conv2d_f32(void) {
  const int32_t groups = random_between(1, 3);
  const int32_t depth = random_between(1, 4);
  const int32_t filters = groups * random_between(1, 4);
  const dmo_shape in = { random_between(1, 2), random_between(1, 8), random_between(1, 8), groups * depth };
  const dmo_shape taps = { filters, random_between(1, 4), random_between(1, 4), depth };
  const dmo_shape out = { in.n, random_between(1, 6), random_between(1, 6), filters };
  const dmo_conv2d_f32_params params = random_params_f32();
  float *input = random_f32(dmo_shape_size(&in));
  float *filter = random_f32(dmo_shape_size(&taps));
  float *output = random_f32(dmo_shape_size(&out));
  float *bias = random_between(0, 3) == 0 ? NULL : random_f32(filters);

  dmo_conv2d_f32(&params, &in, input, &taps, filter, bias, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) &&
         output[i] == oracle_conv2d_f32(&params, &in, input, &taps, filter, bias, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "conv2d_f32", i);
  free(input), free(filter), free(output), free(bias);
}

static void depthwise_conv2d_s8(void) {
  const dmo_shape in = random_shape(2, 8, 8, 5);
  const int32_t channels = in.c * random_between(1, 3);
  const dmo_shape taps = { 1, random_between(1, 4), random_between(1, 4), channels };
  const dmo_shape out = { in.n, random_between(1, 6), random_between(1, 6), channels };
  const dmo_conv2d_params params = random_params();
  int8_t *input = random_s8(dmo_shape_size(&in));
  int8_t *filter = random_s8(dmo_shape_size(&taps));
  int8_t *output = random_s8(dmo_shape_size(&out));
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(channels, -5000, 5000);
  int32_t *multiplier = random_s32(channels, 1 << 30, INT32_MAX);
  int32_t *shift = random_s32(channels, -11, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };

  dmo_depthwise_conv2d_s8(&params, &quant, &in, input, &taps, filter, bias, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) &&
         output[i] == oracle_depthwise_conv2d_s8(&params, &quant, &in, input, &taps, filter, bias, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "depthwise_conv2d_s8", i);
  free(input), free(filter), free(output), free(bias), free(multiplier), free(shift);
}

static void depthwise_conv2d_f32(void) {
  const dmo_shape in = random_shape(2, 8, 8, 5);
  const int32_t channels = in.c * random_between(1, 3);
  const dmo_shape taps = { 1, random_between(1, 4), random_between(1, 4), channels };
  const dmo_shape out = { in.n, random_between(1, 6), random_between(1, 6), channels };
  const dmo_conv2d_f32_params params = random_params_f32();
  float *input = random_f32(dmo_shape_size(&in));
  float *filter = random_f32(dmo_shape_size(&taps));
  float *output = random_f32(dmo_shape_size(&out));
  float *bias = random_between(0, 3) == 0 ? NULL : random_f32(channels);

  dmo_depthwise_conv2d_f32(&params, &in, input, &taps, filter, bias, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) &&
         output[i] == oracle_depthwise_conv2d_f32(&params, &in, input, &taps, filter, bias, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "depthwise_conv2d_f32", i);
  free(input), free(filter), free(output), free(bias);
}

void test_conv(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    conv2d_s8();
    conv2d_f32();
    depthwise_conv2d_s8();
    depthwise_conv2d_f32();
  }
}
