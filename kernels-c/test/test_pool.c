// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle.h"

#include <stdlib.h>

enum { CASES = 4000 };

static dmo_pool_geometry random_geometry(void) {
  const int32_t filter_h = random_between(1, 4);
  const int32_t filter_w = random_between(1, 4);
  return (dmo_pool_geometry){
    .filter_h = filter_h,
    .filter_w = filter_w,
    .stride_h = random_between(1, 3),
    .stride_w = random_between(1, 3),
    .pad_h = random_between(0, filter_h - 1),
    .pad_w = random_between(0, filter_w - 1),
  };
}

// An output in which every window meets the input.
static dmo_shape random_output(const dmo_pool_geometry *g, const dmo_shape *in) {
  const int32_t max_h = (in->h - 1 + g->pad_h) / g->stride_h + 1;
  const int32_t max_w = (in->w - 1 + g->pad_w) / g->stride_w + 1;
  return (dmo_shape){ in->n, random_between(1, max_h), random_between(1, max_w), in->c };
}

typedef void kernel_s8(const dmo_pool_params *, const dmo_shape *, const int8_t *, const dmo_shape *, int8_t *);
typedef int32_t oracle_s8(const dmo_pool_params *, const dmo_shape *, const int8_t *, const dmo_shape *, int32_t);
typedef void kernel_f32(const dmo_pool_f32_params *, const dmo_shape *, const float *, const dmo_shape *, float *);
typedef float oracle_f32(const dmo_pool_f32_params *, const dmo_shape *, const float *, const dmo_shape *, int32_t);

static void pool_s8(const char *name, kernel_s8 *kernel, oracle_s8 *oracle) {
  const dmo_shape in = random_shape(2, 8, 8, 5);
  const dmo_pool_params params = {
    .geometry = random_geometry(),
    .activation_min = random_between(-128, 0),
    .activation_max = random_between(0, 127),
  };
  const dmo_shape out = random_output(&params.geometry, &in);
  int8_t *input = random_s8(dmo_shape_size(&in));
  int8_t *output = random_s8(dmo_shape_size(&out));

  kernel(&params, &in, input, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) && output[i] == oracle(&params, &in, input, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), name, i);
  free(input), free(output);
}

static void pool_f32(const char *name, kernel_f32 *kernel, oracle_f32 *oracle) {
  const dmo_shape in = random_shape(2, 8, 8, 5);
  const dmo_pool_f32_params params = {
    .geometry = random_geometry(),
    .activation_min = -3.0f,
    .activation_max = (float)random_between(0, 4),
  };
  const dmo_shape out = random_output(&params.geometry, &in);
  float *input = random_f32(dmo_shape_size(&in));
  float *output = random_f32(dmo_shape_size(&out));

  kernel(&params, &in, input, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) && output[i] == oracle(&params, &in, input, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), name, i);
  free(input), free(output);
}

void test_pool(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    pool_s8("max_pool_s8", dmo_max_pool_s8, oracle_max_pool_s8);
    pool_s8("avg_pool_s8", dmo_avg_pool_s8, oracle_avg_pool_s8);
    pool_f32("max_pool_f32", dmo_max_pool_f32, oracle_max_pool_f32);
    pool_f32("avg_pool_f32", dmo_avg_pool_f32, oracle_avg_pool_f32);
    pool_f32("l2_pool_f32", dmo_l2_pool_f32, oracle_l2_pool_f32);
  }
}
