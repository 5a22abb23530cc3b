// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_operators.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 2000 };

static dmo_shape reduced(const dmo_shape *in) {
  return (dmo_shape){
    random_between(0, 1) == 0 ? 1 : in->n,
    random_between(0, 1) == 0 ? 1 : in->h,
    random_between(0, 1) == 0 ? 1 : in->w,
    random_between(0, 1) == 0 ? 1 : in->c,
  };
}

static void reduce_f32(void) {
  const dmo_shape in = random_shape(3, 5, 5, 5), out = reduced(&in);
  const int32_t count = dmo_shape_size(&out);
  float *input = random_f32(dmo_shape_size(&in));
  float *sum = random_f32(count), *max = random_f32(count), *min = random_f32(count);

  dmo_sum_f32(&in, input, &out, sum);
  dmo_reduce_max_f32(&in, input, &out, max);
  dmo_reduce_min_f32(&in, input, &out, min);
  int32_t i = 0;
  while (i < count) {
    double expected_sum = 0.0, expected_max = -1e9, expected_min = 1e9;
    for (int32_t j = dmo_shape_size(&in) - 1; j >= 0; --j) {
      if (oracle_reduces_to(&in, j, &out, i)) {
        expected_sum += (double)input[j];
        expected_max = oracle_clamp_f64(expected_max, (double)input[j], 1e9);
        expected_min = oracle_clamp_f64(expected_min, -1e9, (double)input[j]);
      }
    }
    if ((double)sum[i] != expected_sum || (double)max[i] != expected_max || (double)min[i] != expected_min) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "sum_f32, reduce_max_f32 or reduce_min_f32", i);
  free(input), free(sum), free(max), free(min);
}

static void sum_s8(void) {
  const dmo_shape in = random_shape(3, 5, 5, 5), out = reduced(&in);
  const int32_t count = dmo_shape_size(&out);
  const dmo_mean_params params = {
    .input_zero_point = random_between(-128, 127),
    .output_zero_point = random_between(-128, 127),
    .output = { random_between(1 << 30, INT32_MAX), random_between(-10, 3) },
  };
  int8_t *input = edgy_s8(dmo_shape_size(&in)), *output = edgy_s8(count);
  int32_t *scratch = random_s32(dmo_sum_s8_scratch_bytes(&out) / 4, INT32_MIN, INT32_MAX);

  dmo_sum_s8(&params, &in, input, &out, output, scratch);
  int32_t i = 0;
  while (i < count) {
    int64_t sum = 0;
    for (int32_t j = dmo_shape_size(&in) - 1; j >= 0; --j) {
      sum += oracle_reduces_to(&in, j, &out, i) ? input[j] - params.input_zero_point : 0;
    }
    const int64_t scaled = oracle_requantize(sum, params.output.multiplier, params.output.shift);
    if (output[i] != oracle_clamp(scaled + params.output_zero_point, -128, 127)) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "sum_s8", i);

  dmo_sum_s8(&params, &in, input, &out, input, scratch);
  CHECK(memcmp(input, output, (size_t)count) == 0, "sum_s8 in place", 0);
  free(input), free(output), free(scratch);
}

static void reduce_all(void) {
  const dmo_shape in = random_shape(3, 4, 4, 4), out = reduced(&in);
  const int32_t count = dmo_shape_size(&out), rare = random_between(2, 40);
  // Exactly as large as asked for.
  bool *input = malloc((size_t)dmo_shape_size(&in)), *all = malloc((size_t)count);
  if (input == NULL || all == NULL) {
    abort();
  }
  for (int32_t j = 0; j < dmo_shape_size(&in); ++j) {
    input[j] = random_between(0, rare) != 0;
  }

  dmo_reduce_all(&in, input, &out, all);
  int32_t i = 0;
  while (i < count) {
    int32_t untrue = 0;
    for (int32_t j = dmo_shape_size(&in) - 1; j >= 0; --j) {
      untrue += oracle_reduces_to(&in, j, &out, i) && !input[j] ? 1 : 0;
    }
    if (all[i] != (untrue == 0)) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "reduce_all", i);
  free(input), free(all);
}

void test_reduce_axes(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    reduce_f32();
    sum_s8();
    reduce_all();
  }
}
