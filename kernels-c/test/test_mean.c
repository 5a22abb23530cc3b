// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle.h"

#include <stdlib.h>

enum { CASES = 4000 };

static void mean_s8(void) {
  const dmo_shape in = random_shape(3, 9, 9, 6);
  const dmo_shape out = { in.n, 1, 1, in.c };
  const dmo_mean_params params = {
    .input_zero_point = random_between(-128, 127),
    .output_zero_point = random_between(-128, 127),
    .output = { random_between(1 << 30, INT32_MAX), random_between(-8, 3) },
  };
  int8_t *input = random_s8(dmo_shape_size(&in));
  int8_t *output = random_s8(dmo_shape_size(&out));

  dmo_mean_s8(&params, &in, input, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) && output[i] == oracle_mean_s8(&params, &in, input, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "mean_s8", i);
  free(input), free(output);
}

static void mean_f32(void) {
  const dmo_shape in = random_shape(3, 6, 6, 6);
  const dmo_shape out = {
    random_between(0, 1) == 0 ? 1 : in.n,
    random_between(0, 1) == 0 ? 1 : in.h,
    random_between(0, 1) == 0 ? 1 : in.w,
    random_between(0, 1) == 0 ? 1 : in.c,
  };
  float *input = random_f32(dmo_shape_size(&in));
  float *output = random_f32(dmo_shape_size(&out));

  dmo_mean_f32(&in, input, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) && output[i] == oracle_mean_f32(&in, input, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "mean_f32", i);
  free(input), free(output);
}

void test_mean(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    mean_s8();
    mean_f32();
  }
}
