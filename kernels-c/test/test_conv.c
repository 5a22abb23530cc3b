// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle.h"

#include <stdlib.h>

enum { CASES = 4000 };

static dmo_conv2d_params random_params(void) {
  const int32_t min = random_between(-128, 0);
  return (dmo_conv2d_params){
    .geometry = random_conv_geometry(),
    .input_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .activation_min = min,
    .activation_max = random_between(min, 127),
  };
}

static dmo_conv2d_f32_params random_params_f32(void) {
  return (dmo_conv2d_f32_params){
    .geometry = random_conv_geometry(),
    .activation_min = (float)random_between(-100, 0),
    .activation_max = (float)random_between(0, 100),
  };
}

typedef __typeof__(dmo_conv2d_s8) kernel_s8;
typedef __typeof__(oracle_conv2d_s8) oracle_s8;

static void test_s8(const char *what, conv_shapes s, kernel_s8 *kernel, oracle_s8 *oracle) {
  const dmo_conv2d_params params = random_params();
  int8_t *input = random_s8(dmo_shape_size(&s.in));
  int8_t *filter = random_s8(dmo_shape_size(&s.taps));
  int8_t *output = random_s8(dmo_shape_size(&s.out));
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(s.out.c, -5000, 5000);
  int32_t *multiplier = random_s32(s.out.c, 1 << 30, INT32_MAX);
  int32_t *shift = random_s32(s.out.c, -12, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };

  kernel(&params, &quant, &s.in, input, &s.taps, filter, bias, &s.out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&s.out) &&
         output[i] == oracle(&params, &quant, &s.in, input, &s.taps, filter, bias, &s.out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&s.out), what, i);
  free(input), free(filter), free(output), free(bias), free(multiplier), free(shift);
}

typedef __typeof__(dmo_conv2d_f32) kernel_f32;
typedef __typeof__(oracle_conv2d_f32) oracle_f32;

static void test_f32(const char *what, conv_shapes s, kernel_f32 *kernel, oracle_f32 *oracle) {
  const dmo_conv2d_f32_params params = random_params_f32();
  float *input = random_f32(dmo_shape_size(&s.in));
  float *filter = random_f32(dmo_shape_size(&s.taps));
  float *output = random_f32(dmo_shape_size(&s.out));
  float *bias = random_between(0, 3) == 0 ? NULL : random_f32(s.out.c);

  kernel(&params, &s.in, input, &s.taps, filter, bias, &s.out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&s.out) &&
         output[i] == oracle(&params, &s.in, input, &s.taps, filter, bias, &s.out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&s.out), what, i);
  free(input), free(filter), free(output), free(bias);
}

void test_conv(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    test_s8("conv2d_s8", random_conv_shapes(), dmo_conv2d_s8, oracle_conv2d_s8);
    test_f32("conv2d_f32", random_conv_shapes(), dmo_conv2d_f32, oracle_conv2d_f32);
    test_s8("depthwise_conv2d_s8", random_depthwise_shapes(), dmo_depthwise_conv2d_s8, oracle_depthwise_conv2d_s8);
    test_f32("depthwise_conv2d_f32", random_depthwise_shapes(), dmo_depthwise_conv2d_f32,
             oracle_depthwise_conv2d_f32);
  }
}
