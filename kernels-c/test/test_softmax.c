// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 4000 };

// The parameters for a real value of beta * input scale, by the rules in dmo_softmax.h.
static dmo_softmax_params params_of(double input_scale) {
  int shift;
  const double fraction = frexp(input_scale * 67108864.0, &shift);
  int64_t multiplier = llround(fraction * 2147483648.0);
  if (multiplier == INT64_C(1) << 31) {
    multiplier /= 2;
    ++shift;
  }
  const double diff_min = -floor(31.0 * 67108864.0 / ldexp(1.0, shift));
  return (dmo_softmax_params){ { (int32_t)multiplier, shift }, (int32_t)diff_min };
}

// Within one step.
static void softmax_s8_s16(const dmo_softmax_params *params, double input_scale, int32_t rows, int32_t depth,
                           const int8_t *input) {
  int16_t *output = edgy_s16(rows * depth);

  dmo_softmax_s8_s16(params, rows, depth, input, output);
  int32_t i = 0;
  while (i < rows * depth) {
    const double exact = oracle_softmax_s8(input_scale, depth, input, i) * 65536.0 - 32768.0;
    if (fabs((double)output[i] - fmin(exact, 32767.0)) > 1.0) {
      break;
    }
    ++i;
  }
  CHECK(i == rows * depth, "softmax_s8_s16", i);
  free(output);
}

static void softmax_s8(int32_t depth) {
  const int32_t rows = random_between(1, 3);
  const double input_scale = exp2((double)random_between(-800, 100) / 100.0);
  const dmo_softmax_params params = params_of(input_scale);
  int8_t *input = random_s8(rows * depth);
  int8_t *output = random_s8(rows * depth);

  dmo_softmax_s8(&params, rows, depth, input, output);
  int32_t i = 0;
  while (i < rows * depth) {
    const double exact = oracle_softmax_s8(input_scale, depth, input, i) * 256.0 - 128.0;
    if (fabs((double)output[i] - fmin(exact, 127.0)) > 1.0) {
      break;
    }
    ++i;
  }
  CHECK(i == rows * depth, "softmax_s8", i);
  softmax_s8_s16(&params, input_scale, rows, depth, input);
  free(input), free(output);
}

static void softmax_f32(void) {
  const int32_t rows = random_between(1, 3);
  const int32_t depth = random_between(1, 60);
  const float beta = (float)random_between(1, 16) / 8.0f;
  float *input = random_f32(rows * depth);
  float *output = random_f32(rows * depth);

  dmo_softmax_f32(beta, rows, depth, input, output);
  int32_t i = 0;
  while (i < rows * depth) {
    const double exact = oracle_softmax_f32((double)beta, depth, input, i);
    if (fabs((double)output[i] - exact) > 1e-5 * exact) {
      break;
    }
    ++i;
  }
  CHECK(i == rows * depth, "softmax_f32", i);
  free(input), free(output);
}

void test_softmax(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    softmax_s8(random_between(1, 60));
    softmax_f32();
  }
  for (int32_t n = 0; n < 5; ++n) {
    softmax_s8(4095);
  }
}
