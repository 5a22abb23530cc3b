// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "../reference/dmo_fixed_point.h"
#include "oracle_operators.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 2000 };

static dmo_affine_params random_affine(int32_t bits) {
  const int32_t limit = 1 << (bits - 1);
  const int32_t zero_point = random_between(0, 3) == 0 ? -limit : random_between(-limit, limit - 1);
  // Sometimes a power of two, so that quotients fall on halves.
  const float scale = random_between(0, 1) == 0 ? 0.25f : (float)random_between(1, 100000) / 65536.0f;
  return (dmo_affine_params){ scale, zero_point };
}

static void quantize(void) {
  const int32_t count = random_between(1, 100);
  const dmo_affine_params params_s8 = random_affine(8), params_s16 = random_affine(16);
  float *input = random_f32(count);
  for (int32_t i = 0; i < count; ++i) {
    input[i] *= (float)random_between(0, 1 << random_between(0, 11));
  }
  int8_t *output_s8 = edgy_s8(count);
  int16_t *output_s16 = edgy_s16(count);

  dmo_quantize_f32_s8(&params_s8, count, input, output_s8);
  dmo_quantize_f32_s16(&params_s16, count, input, output_s16);
  int32_t i = 0;
  while (i < count && output_s8[i] == oracle_clamp(oracle_quantize(&params_s8, input[i]), -128, 127) &&
         output_s16[i] == oracle_clamp(oracle_quantize(&params_s16, input[i]), -32768, 32767)) {
    ++i;
  }
  CHECK(i == count, "quantize", i);
  free(input), free(output_s8), free(output_s16);
}

static void dequantize(void) {
  const int32_t count = random_between(1, 100);
  const dmo_affine_params params_s8 = random_affine(8), params_s16 = random_affine(16);
  dmo_affine_params params_u8 = random_affine(8);
  params_u8.zero_point += 128;
  int8_t *input_s8 = edgy_s8(count);
  int16_t *input_s16 = edgy_s16(count);
  uint8_t *input_u8 = (uint8_t *)edgy_s8(count);
  float *output_s8 = random_f32(count), *output_s16 = random_f32(count), *output_u8 = random_f32(count);

  dmo_dequantize_u8_f32(&params_u8, count, input_u8, output_u8);
  dmo_dequantize_s8_f32(&params_s8, count, input_s8, output_s8);
  dmo_dequantize_s16_f32(&params_s16, count, input_s16, output_s16);
  int32_t i = 0;
  while (i < count &&
         output_s8[i] == (float)((double)params_s8.scale * (double)(input_s8[i] - params_s8.zero_point)) &&
         output_u8[i] == (float)((double)params_u8.scale * (double)(input_u8[i] - params_u8.zero_point)) &&
         output_s16[i] == (float)((double)params_s16.scale * (double)(input_s16[i] - params_s16.zero_point))) {
    ++i;
  }
  CHECK(i == count, "dequantize", i);
  free(input_s8), free(input_s16), free(input_u8), free(output_s8), free(output_s16), free(output_u8);
}

static dmo_requantize_params random_requantize(int32_t from_bits, int32_t to_bits) {
  const int32_t from = 1 << (from_bits - 1), to = 1 << (to_bits - 1);
  return (dmo_requantize_params){
    .input_offset = random_between(-from, from),
    .output_offset = random_between(-to, to - 1),
    .output = { random_between(1 << 30, INT32_MAX), random_between(-12, 24 - from_bits) },
  };
}

static void requantize(void) {
  const int32_t count = random_between(1, 100);
  const dmo_requantize_params narrow = random_requantize(8, 8), widening = random_requantize(8, 16);
  const dmo_requantize_params narrowing = random_requantize(16, 8), wide = random_requantize(16, 16);
  const dmo_requantize_params widest = random_requantize(16, 31);
  int8_t *in8 = edgy_s8(count), *out8 = edgy_s8(count), *narrowed = edgy_s8(count);
  int16_t *in16 = edgy_s16(count), *out16 = edgy_s16(count), *widened = edgy_s16(count);
  int32_t *out32 = random_s32(count, INT32_MIN, INT32_MAX);

  dmo_requantize_s8_s8(&narrow, count, in8, out8);
  dmo_requantize_s8_s16(&widening, count, in8, widened);
  dmo_requantize_s16_s8(&narrowing, count, in16, narrowed);
  dmo_requantize_s16_s16(&wide, count, in16, out16);
  dmo_requantize_s16_s32(&widest, count, in16, out32);
  int32_t i = 0;
  while (i < count && out8[i] == oracle_clamp(oracle_requantize_offset(&narrow, in8[i]), -128, 127) &&
         widened[i] == oracle_clamp(oracle_requantize_offset(&widening, in8[i]), -32768, 32767) &&
         narrowed[i] == oracle_clamp(oracle_requantize_offset(&narrowing, in16[i]), -128, 127) &&
         out16[i] == oracle_clamp(oracle_requantize_offset(&wide, in16[i]), -32768, 32767) &&
         out32[i] == oracle_requantize_offset(&widest, in16[i])) {
    ++i;
  }
  CHECK(i == count, "requantize", i);
  free(in8), free(out8), free(narrowed), free(in16), free(out16), free(widened), free(out32);
}

// From 8 bit to 32, and from 32 to fewer.
static void requantize_s32(void) {
  const int32_t count = random_between(1, 100);
  const dmo_requantize_params up = random_requantize(8, 31);
  const dmo_requantize_params down = { random_between(-1000, 1000), random_between(-128, 127),
                                       { random_between(1 << 30, INT32_MAX), random_between(-25, -2) } };
  int8_t *in = edgy_s8(count), *narrow = edgy_s8(count);
  int16_t *wide = edgy_s16(count);
  int32_t *in32 = random_s32(count, INT32_MIN + 1000, INT32_MAX - 1000), *out = random_s32(count, 0, 1);
  in32[0] = random_between(-1000, 1000);

  dmo_requantize_s8_s32(&up, count, in, out);
  dmo_requantize_s32_s8(&down, count, in32, narrow);
  dmo_requantize_s32_s16(&down, count, in32, wide);
  int32_t i = 0;
  while (i < count && out[i] == oracle_requantize_offset(&up, in[i]) &&
         narrow[i] == oracle_clamp(oracle_requantize_offset(&down, in32[i]), -128, 127) &&
         wide[i] == oracle_clamp(oracle_requantize_offset(&down, in32[i]), -32768, 32767)) {
    ++i;
  }
  CHECK(i == count, "requantize_s32", i);
  free(in), free(narrow), free(wide), free(in32), free(out);
}

// Between bytes with a sign and without: the numbers of one are those of the other, 128 less or more.
static void requantize_u8(void) {
  const int32_t count = random_between(1, 100);
  const dmo_requantize_params params = random_requantize(8, 8);
  dmo_requantize_params from_u8 = params, to_u8 = params;
  from_u8.input_offset -= 128, to_u8.output_offset += 128;
  int8_t *in = edgy_s8(count), *expected = edgy_s8(count), *out = edgy_s8(count);
  uint8_t *in_u8 = (uint8_t *)edgy_s8(count), *out_u8 = (uint8_t *)edgy_s8(count);
  for (int32_t i = 0; i < count; ++i) {
    in_u8[i] = (uint8_t)(in[i] + 128);
  }
  dmo_requantize_s8_s8(&params, count, in, expected);
  dmo_requantize_u8_s8(&from_u8, count, in_u8, out);
  dmo_requantize_s8_u8(&to_u8, count, in, out_u8);
  int32_t i = 0;
  while (i < count && out[i] == expected[i] && out_u8[i] == expected[i] + 128) {
    ++i;
  }
  CHECK(i == count, "requantize_u8", i);
  free(in), free(expected), free(out), free(in_u8), free(out_u8);
}

// The parameters for an input scale in [2^-10, 1]: the multiplier, and the radius beyond which Q4.27 would not do.
static dmo_sigmoid_params sigmoid_params_of(double scale) {
  int shift;
  const double fraction = frexp(scale * 134217728.0, &shift);
  const int64_t multiplier = llround(fraction * 2147483648.0);
  const bool carried = multiplier == INT64_C(1) << 31;
  shift += carried ? 1 : 0;
  return (dmo_sigmoid_params){
    .input_offset = random_between(-127, 128),
    .input_radius = (int32_t)floor(15.0 * 134217728.0 / ldexp(1.0, shift)),
    .input = { (int32_t)(carried ? multiplier / 2 : multiplier), shift },
  };
}

// Where the kernel saturates early, the curve must be within one step of its end; else it is rounded to nearest.
static bool is_rounded(double exact, int8_t actual) {
  const double saturated = fmin(exact, 127.0);
  return fabs((double)actual - saturated) <= 0.5 + 1e-3;
}

static void sigmoids(double scale) {
  const dmo_sigmoid_params params = sigmoid_params_of(scale);
  int8_t *input = edgy_s8(256);
  for (int32_t i = 0; i < 256; ++i) {
    input[i] = (int8_t)(i - 128);
  }
  int8_t *logistic = edgy_s8(256), *tangent = edgy_s8(256);

  dmo_logistic_s8(&params, 256, input, logistic);
  dmo_tanh_s8(&params, 256, input, tangent);
  int32_t i = 0;
  while (i < 256) {
    const double x = scale * (double)(input[i] + params.input_offset);
    if (!is_rounded(256.0 * oracle_logistic(x) - 128.0, logistic[i]) || !is_rounded(128.0 * tanh(x), tangent[i])) {
      break;
    }
    ++i;
  }
  CHECK(i == 256, "logistic_s8 or tanh_s8", i);
  free(input), free(logistic), free(tangent);
}

static void curves_f32(void) {
  const int32_t count = random_between(1, 100);
  float *input = random_f32(count);
  for (int32_t i = 0; i < count; ++i) {
    input[i] *= (float)random_between(0, 40) / 4.0f;
  }
  float *logistic = random_f32(count), *tangent = random_f32(count), *swish = random_f32(count);

  dmo_logistic_f32(count, input, logistic);
  dmo_tanh_f32(count, input, tangent);
  dmo_hard_swish_f32(count, input, swish);
  int32_t i = 0;
  while (i < count) {
    const double x = (double)input[i];
    // Below the lower limit the kernel gives exp(x), at most exp(-9) too large by its ratio.
    const double exact = 1.0 / (1.0 + exp(-x));
    if (fabs((double)logistic[i] - exact) > 1.3e-4 * exact || fabs((double)tangent[i] - tanh(x)) > 1e-6 ||
        fabs((double)swish[i] - oracle_hard_swish(x)) > 1e-6 * (1.0 + fabs(x))) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "logistic_f32, tanh_f32 or hard_swish_f32", i);
  free(input), free(logistic), free(tangent), free(swish);
}

static void hard_swish_s8(void) {
  const dmo_hard_swish_params params = {
    .input_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .output_multiplier = random_between(1 << 14, 32767),
    .output_shift = random_between(-9, 0),
    .saturation_multiplier = random_between(1 << 14, 32767),
    .saturation_shift = random_between(-6, 15),
  };
  int8_t *input = edgy_s8(100), *output = edgy_s8(100);

  dmo_hard_swish_s8(&params, 100, input, output);
  int32_t i = 0;
  while (i < 100 && output[i] == oracle_hard_swish_s8(&params, input, i)) {
    ++i;
  }
  CHECK(i == 100, "hard_swish_s8", i);
  free(input), free(output);
}

// A ratio as a 15-bit multiplier and a shift.
static void split_ratio(double ratio, int32_t *multiplier, int32_t *shift) {
  int exponent;
  const double fraction = frexp(ratio, &exponent);
  *multiplier = (int32_t)fmin(floor(fraction * 32768.0), 32767.0);
  *shift = exponent;
}

// The fixed-point curve against the real one.
static void hard_swish_s8_curve(void) {
  const double input_scale = exp2((double)random_between(-600, -300) / 100.0);
  const double output_scale = input_scale * exp2((double)random_between(0, 300) / 100.0);
  dmo_hard_swish_params params = { .input_offset = random_between(-127, 128), .output_offset = -100 };
  split_ratio(input_scale / 128.0 / output_scale, &params.output_multiplier, &params.output_shift);
  split_ratio(input_scale / 128.0 * 32768.0 / 3.0, &params.saturation_multiplier, &params.saturation_shift);
  int8_t *input = edgy_s8(100), *output = edgy_s8(100);

  dmo_hard_swish_s8(&params, 100, input, output);
  int32_t i = 0;
  while (i < 100) {
    const double x = input_scale * (double)(input[i] + params.input_offset);
    const double exact = oracle_hard_swish(x) / output_scale - 100.0;
    if (fabs((double)output[i] - fmin(exact, 127.0)) > 1.0) {
      break;
    }
    ++i;
  }
  CHECK(i == 100, "hard_swish_s8's curve", i);
  free(input), free(output);
}

static void hard_swish_s16(void) {
  const dmo_hard_swish_s16_params params = {
    .ramp = { random_between(1 << 30, INT32_MAX), random_between(-8, 15) },
    .output = { random_between(1 << 30, INT32_MAX), random_between(-20, 0) },
  };
  int16_t *input = edgy_s16(100), *output = edgy_s16(100);

  dmo_hard_swish_s16(&params, 100, input, output);
  int32_t i = 0;
  while (i < 100 && output[i] == oracle_hard_swish_s16(&params, input, i)) {
    ++i;
  }
  CHECK(i == 100, "hard_swish_s16", i);
  free(input), free(output);
}

// The nearest multiplier / 2^31 * 2^shift.
static dmo_quant_per_tensor quant_of(double ratio) {
  int shift;
  const double fraction = frexp(ratio, &shift);
  return (dmo_quant_per_tensor){ (int32_t)fmin(round(fraction * 2147483648.0), 2147483647.0), shift };
}

// The fixed-point curve against the real one, in the scale of the input and in finer ones.
static void hard_swish_s16_curve(void) {
  const double input_scale = exp2((double)random_between(-1500, 200) / 100.0);
  const double ratio = exp2((double)random_between(0, 300) / 100.0);
  const dmo_hard_swish_s16_params params = { quant_of(input_scale / 6.0 * 32768.0), quant_of(ratio / 32768.0) };
  int16_t *input = edgy_s16(100), *output = edgy_s16(100);

  dmo_hard_swish_s16(&params, 100, input, output);
  int32_t i = 0;
  while (i < 100) {
    const double exact = oracle_hard_swish(input_scale * (double)input[i]) / input_scale * ratio;
    if (fabs((double)output[i] - oracle_clamp_f64(exact, -32768.0, 32767.0)) > 0.75 + 0.75 * ratio) {
      break;
    }
    ++i;
  }
  CHECK(i == 100, "hard_swish_s16's curve", i);
  free(input), free(output);
}

// Any slope below 0, falling ones and 0 included.
static dmo_leaky_relu_params random_leaky_relu(int32_t offsets, int32_t max_shift) {
  const bool is_flat = random_between(0, 7) == 0;
  return (dmo_leaky_relu_params){
    .input_offset = random_between(0, offsets),
    .output_offset = random_between(-offsets, 0),
    .positive = { random_between(1 << 30, INT32_MAX), random_between(-8, max_shift) },
    .negative = { is_flat ? 0 : random_between(1 << 30, INT32_MAX), is_flat ? 0 : random_between(-12, max_shift) },
    .sign = random_between(0, 1) == 0 ? -1 : 1,
  };
}

static void leaky_relu(void) {
  const dmo_leaky_relu_params narrow = random_leaky_relu(128, 22), wide = random_leaky_relu(0, 14);
  int8_t *in8 = edgy_s8(100), *out8 = edgy_s8(100);
  int16_t *in16 = edgy_s16(100), *out16 = edgy_s16(100);
  float *input = random_f32(100), *output = random_f32(100);
  const float alpha = (float)random_between(-20, 20) / 8.0f;

  dmo_leaky_relu_s8(&narrow, 100, in8, out8);
  dmo_leaky_relu_s16(&wide, 100, in16, out16);
  dmo_leaky_relu_f32(alpha, 100, input, output);
  int32_t i = 0;
  while (i < 100 && out8[i] == oracle_clamp(oracle_leaky_relu(&narrow, in8[i] + narrow.input_offset), -128, 127) &&
         out16[i] == oracle_clamp(oracle_leaky_relu(&wide, in16[i]), -32768, 32767) &&
         output[i] == (float)((double)input[i] * (input[i] < 0.0f ? (double)alpha : 1.0))) {
    ++i;
  }
  CHECK(i == 100, "leaky_relu", i);
  free(in8), free(out8), free(in16), free(out16), free(input), free(output);
}

// The functions beneath the 8-bit logistic function and tanh. The polynomial is 3e-7 off.
static void fixed_point(void) {
  const int32_t integer_bits = random_between(4, 5);
  const int32_t x = -(random_between(0, INT32_MAX) >> random_between(0, 12)), fraction = random_between(0, INT32_MAX);
  const double exponential = exp((double)x / exp2(31.0 - (double)integer_bits)) * 2147483648.0;
  const double off = fabs((double)dmo_exp_of_negative(x, integer_bits) - fmin(exponential, 2147483647.0));
  CHECK(off < 4e-7 * exponential + 8.0, "exp", x);
  const double ratio = 2.0 / (1.0 + (double)fraction / 2147483648.0) * 536870912.0;
  CHECK(fabs((double)dmo_two_over_one_plus(fraction) - ratio) < 16.0, "2 / (1 + x)", fraction);
}

void test_unary(void) {
  for (int32_t n = 0; n < 20000; ++n) {
    fixed_point();
  }
  for (int32_t n = 0; n < CASES; ++n) {
    quantize();
    dequantize();
    requantize();
    requantize_s32();
    requantize_u8();
    sigmoids(exp2((double)random_between(-1000, 0) / 100.0));
    curves_f32();
    hard_swish_s8();
    hard_swish_s8_curve();
    hard_swish_s16();
    hard_swish_s16_curve();
    leaky_relu();
  }
}
