// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 4000, MAX_INPUTS = 4 };

static int32_t *extent(dmo_shape *shape, dmo_axis axis) {
  int32_t *extents[] = { &shape->n, &shape->h, &shape->w, &shape->c };
  return extents[axis];
}

static void concat(void) {
  const dmo_axis axis = (dmo_axis)random_between(DMO_AXIS_N, DMO_AXIS_C);
  const int32_t count = random_between(1, MAX_INPUTS);
  dmo_shape out = random_shape(3, 4, 4, 5), in[MAX_INPUTS];
  int8_t *inputs_s8[MAX_INPUTS];
  float *inputs_f32[MAX_INPUTS];
  *extent(&out, axis) = 0;
  for (int32_t i = 0; i < count; ++i) {
    in[i] = out;
    *extent(&in[i], axis) = random_between(1, 4);
  }
  for (int32_t i = 0; i < count; ++i) {
    *extent(&out, axis) += *extent(&in[i], axis);
    inputs_s8[i] = random_s8(dmo_shape_size(&in[i]));
    inputs_f32[i] = random_f32(dmo_shape_size(&in[i]));
  }
  int8_t *output_s8 = random_s8(dmo_shape_size(&out));
  float *output_f32 = random_f32(dmo_shape_size(&out));

  dmo_concat_s8(axis, count, in, (const int8_t *const *)inputs_s8, output_s8);
  dmo_concat_f32(axis, count, in, (const float *const *)inputs_f32, output_f32);
  int32_t i = 0;
  while (i < dmo_shape_size(&out)) {
    int32_t input;
    const int64_t source = oracle_concat_source(axis, in, &out, i, &input);
    if (output_s8[i] != inputs_s8[input][source] || output_f32[i] != inputs_f32[input][source]) {
      break;
    }
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "concat", i);
  for (int32_t n = 0; n < count; ++n) {
    free(inputs_s8[n]), free(inputs_f32[n]);
  }
  free(output_s8), free(output_f32);
}

static void pad(void) {
  const dmo_shape in = random_shape(2, 4, 4, 4);
  const dmo_padding before = { random_between(0, 1), random_between(0, 3), random_between(0, 3), random_between(0, 2) };
  const dmo_shape out = {
    in.n + before.n + random_between(0, 1),
    in.h + before.h + random_between(0, 3),
    in.w + before.w + random_between(0, 3),
    in.c + before.c + random_between(0, 2),
  };
  const int8_t value_s8 = (int8_t)random_between(-128, 127);
  const float value_f32 = (float)random_between(-4, 4);
  int8_t *input_s8 = random_s8(dmo_shape_size(&in));
  float *input_f32 = random_f32(dmo_shape_size(&in));
  int8_t *output_s8 = random_s8(dmo_shape_size(&out));
  float *output_f32 = random_f32(dmo_shape_size(&out));

  dmo_pad_s8(&before, value_s8, &in, input_s8, &out, output_s8);
  dmo_pad_f32(&before, value_f32, &in, input_f32, &out, output_f32);
  int32_t i = 0;
  while (i < dmo_shape_size(&out)) {
    const int64_t source = oracle_pad_source(&before, &in, &out, i);
    if (output_s8[i] != (source < 0 ? value_s8 : input_s8[source]) ||
        output_f32[i] != (source < 0 ? value_f32 : input_f32[source])) {
      break;
    }
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "pad", i);
  free(input_s8), free(input_f32), free(output_s8), free(output_f32);
}

static void reshape(void) {
  const int32_t count = random_between(1, 200);
  int8_t *input_s8 = random_s8(count), *output_s8 = random_s8(count);
  float *input_f32 = random_f32(count), *output_f32 = random_f32(count);

  dmo_reshape_s8(count, input_s8, output_s8);
  dmo_reshape_f32(count, input_f32, output_f32);
  CHECK(memcmp(input_s8, output_s8, (size_t)count) == 0, "reshape_s8", count);
  CHECK(memcmp(input_f32, output_f32, (size_t)count * sizeof *input_f32) == 0, "reshape_f32", count);

  dmo_reshape_s8(count, output_s8, output_s8);
  CHECK(memcmp(input_s8, output_s8, (size_t)count) == 0, "reshape_s8 in place", count);
  free(input_s8), free(output_s8), free(input_f32), free(output_f32);
}

void test_layout(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    concat();
    pad();
    reshape();
  }
}
