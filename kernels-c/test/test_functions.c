// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Functions of one element.
#include "check.h"
#include "../reference/dmo_inverse_sqrt.h"
#include "oracle_operators.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 1000, COUNT = 64 };

typedef void kernel_f32(int32_t count, const float *input, float *output);

static double negative(double x) { return -x; }
static double square(double x) { return x * x; }
static double inverse_root(double x) { return 1.0 / sqrt(x); }
static double elu(double x) { return x < 0.0 ? expm1(x) : x; }

static const struct {
  const char *name;
  kernel_f32 *kernel;
  double (*exact)(double x);
  double off;           // relative; 0 where the result is exact
  bool needs_positive;
} FUNCTIONS[] = {
  { "abs", dmo_abs_f32, fabs, 0.0, false },           { "neg", dmo_neg_f32, negative, 0.0, false },
  { "square", dmo_square_f32, square, 0.0, false },   { "floor", dmo_floor_f32, floor, 0.0, false },
  { "ceil", dmo_ceil_f32, ceil, 0.0, false },         { "round", dmo_round_f32, rint, 0.0, false },
  { "sqrt", dmo_sqrt_f32, sqrt, 1e-7, true },         { "rsqrt", dmo_rsqrt_f32, inverse_root, 2e-7, true },
  { "log", dmo_log_f32, log, 2e-7, true },            { "exp", dmo_exp_f32, exp, 2e-7, false },
  { "sin", dmo_sin_f32, sin, 2e-7, false },           { "cos", dmo_cos_f32, cos, 2e-7, false },
  { "elu", dmo_elu_f32, elu, 3e-7, false },
};

static void functions_f32(void) {
  float *input = random_f32(COUNT), *output = random_f32(COUNT);
  for (size_t f = 0; f < sizeof FUNCTIONS / sizeof *FUNCTIONS; ++f) {
    for (int32_t i = 0; i < COUNT; ++i) {
      const float number = (float)random_between(-64, 64) / 8.0f;
      input[i] = FUNCTIONS[f].needs_positive ? fabsf(number) + 0.125f : number;
    }
    FUNCTIONS[f].kernel(COUNT, input, output);
    int32_t i = 0;
    while (i < COUNT) {
      const double exact = FUNCTIONS[f].exact((double)input[i]);
      if (fabs((double)output[i] - exact) > FUNCTIONS[f].off * (1.0 + fabs(exact))) {
        break;
      }
      ++i;
    }
    CHECK(i == COUNT, FUNCTIONS[f].name, i);
  }
  free(input), free(output);
}

static void absolute(void) {
  dmo_requantize_params narrow = { random_between(-128, 128), random_between(-128, 127), { 0, 0 } };
  narrow.output = (dmo_quant_per_tensor){ random_between(1 << 30, INT32_MAX), random_between(-10, 10) };
  const dmo_requantize_params wide = { 0, 0, { narrow.output.multiplier, random_between(-15, 14) } };
  int8_t *in8 = edgy_s8(COUNT), *out8 = edgy_s8(COUNT);
  int16_t *in16 = edgy_s16(COUNT), *out16 = edgy_s16(COUNT);

  dmo_abs_s8(&narrow, COUNT, in8, out8);
  dmo_abs_s16(&wide, COUNT, in16, out16);
  int32_t i = 0;
  while (i < COUNT) {
    const int32_t value = in8[i] + narrow.input_offset, value16 = in16[i];
    const int64_t exact = oracle_requantize(labs(value), narrow.output.multiplier, narrow.output.shift);
    const int64_t exact16 = oracle_requantize(labs(value16), wide.output.multiplier, wide.output.shift);
    if (out8[i] != oracle_clamp(exact + narrow.output_offset, -128, 127) ||
        out16[i] != oracle_clamp(exact16, -32768, 32767)) {
      break;
    }
    ++i;
  }
  CHECK(i == COUNT, "abs s8 or s16", i);
  free(in8), free(out8), free(in16), free(out16);
}

static void inverse_sqrt(void) {
  const int32_t x = random_between(1, INT32_MAX) >> random_between(0, 30);
  const dmo_quant_per_tensor ratio = dmo_inverse_sqrt(x);
  const double found = (double)ratio.multiplier / 2147483648.0 * exp2((double)ratio.shift);
  const double exact = 1.0 / sqrt(fmax((double)x, 1.0));
  CHECK(fabs(found - exact) <= 1e-4 * exact, "inverse square root", x);
}

static void rsqrt_s8(void) {
  const dmo_requantize_params params = { 128, random_between(-128, 0),
                                         { random_between(1 << 30, INT32_MAX), random_between(0, 11) } };
  const double ratio = (double)params.output.multiplier / 2147483648.0 * exp2((double)params.output.shift);
  int8_t *input = edgy_s8(COUNT), *output = edgy_s8(COUNT);

  dmo_rsqrt_s8(&params, COUNT, input, output);
  int32_t i = 0;
  while (i < COUNT) {
    const int32_t value = input[i] + 128;
    const double exact = value == 0 ? 127.0 : ratio / sqrt((double)value) + (double)params.output_offset;
    if (fabs((double)output[i] - fmin(exact, 127.0)) > 0.5 + 1e-4 * ratio) {
      break;
    }
    ++i;
  }
  CHECK(i == COUNT, "rsqrt s8", i);
  free(input), free(output);
}

static void lookup_and_not(void) {
  int8_t *table = random_s8(256), *input = edgy_s8(COUNT), *output = edgy_s8(COUNT);
  bool truths[COUNT], negated[COUNT];
  for (int32_t i = 0; i < COUNT; ++i) {
    truths[i] = random_between(0, 1) == 1;
  }

  dmo_lookup_s8(table, COUNT, input, output);
  dmo_logical_not(COUNT, truths, negated);
  int32_t i = 0;
  while (i < COUNT && output[i] == table[input[i] & 255] && negated[i] != truths[i]) {
    ++i;
  }
  CHECK(i == COUNT, "lookup s8 or logical_not", i);
  free(table), free(input), free(output);
}

// Numbers of all types that any of them holds, and back.
static void cast(void) {
  static const dmo_element_type types[] = { DMO_S8, DMO_S16, DMO_S32, DMO_F32 };
  int8_t *input = edgy_s8(COUNT), *output = edgy_s8(COUNT);
  int32_t first[COUNT], second[COUNT];
  const dmo_element_type one = types[random_between(0, 3)], other = types[random_between(0, 3)];
  float halves[COUNT];
  int16_t wholes[COUNT];
  for (int32_t i = 0; i < COUNT; ++i) {
    halves[i] = (float)input[i] + (input[i] < 0 ? -0.5f : 0.5f);
  }

  dmo_cast(DMO_S8, one, COUNT, input, first);
  dmo_cast(one, other, COUNT, first, second);
  dmo_cast(other, DMO_S8, COUNT, second, output);
  dmo_cast(DMO_F32, DMO_S16, COUNT, halves, wholes);
  int32_t i = 0;
  while (i < COUNT && output[i] == input[i] && wholes[i] == input[i]) {
    ++i;
  }
  CHECK(i == COUNT, "cast", (int32_t)one);
  free(input), free(output);
}

void test_functions(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    functions_f32();
    absolute();
    inverse_sqrt();
    rsqrt_s8();
    lookup_and_not();
    cast();
  }
}
