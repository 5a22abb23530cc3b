// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 3000 };

typedef struct {
  dmo_shape in, out;
} shapes;

// Mostly small; sometimes one axis grows so much that the 10-bit ratio runs beyond the input.
static shapes random_shapes(void) {
  shapes s = { random_shape(2, 6, 6, 3), random_shape(1, 12, 12, 1) };
  s.out.n = s.in.n;
  s.out.c = s.in.c;
  if (random_between(0, 9) == 0) {
    s.out.w = random_between(40, 120);
    s.out.h = 1;
  }
  return s;
}

static bool is_copy(const int8_t *input, const int8_t *output, const dmo_shape *in, int64_t n, int64_t y, int64_t x,
                    int32_t pixel_bytes) {
  return memcmp(output, &input[oracle_index(in, n, y, x, 0) / in->c * pixel_bytes], (size_t)pixel_bytes) == 0;
}

static void resize_nearest(void) {
  const shapes s = random_shapes();
  const dmo_resize_params params = { random_between(0, 1), random_between(0, 1) };
  const int32_t bytes = 1 << random_between(0, 2), pixel_bytes = s.in.c * bytes;
  int8_t *input = random_s8(dmo_shape_size(&s.in) * bytes), *output = random_s8(dmo_shape_size(&s.out) * bytes);

  dmo_resize_nearest(&params, bytes, &s.in, input, &s.out, output);
  const int32_t pixels = s.out.n * s.out.h * s.out.w;
  int32_t i = 0;
  while (i < pixels) {
    const oracle_position at = oracle_position_of(&s.out, (int64_t)i * s.out.c);
    const oracle_nearest y = oracle_resize_nearest(&params, at.h, s.in.h, s.out.h);
    const oracle_nearest x = oracle_resize_nearest(&params, at.w, s.in.w, s.out.w);
    const int8_t *pixel = &output[i * pixel_bytes];
    if (!is_copy(input, pixel, &s.in, at.n, y.low, x.low, pixel_bytes) &&
        !is_copy(input, pixel, &s.in, at.n, y.high, x.high, pixel_bytes) &&
        !is_copy(input, pixel, &s.in, at.n, y.low, x.high, pixel_bytes) &&
        !is_copy(input, pixel, &s.in, at.n, y.high, x.low, pixel_bytes)) {
      break;
    }
    ++i;
  }
  CHECK(i == pixels, "resize_nearest", i);
  free(input), free(output);
}

static dmo_resize_params random_bilinear(void) {
  const int32_t which = random_between(0, 2);
  return (dmo_resize_params){ which == 1, which == 2 };
}

static void resize_bilinear_s8(void) {
  const shapes s = random_shapes();
  const dmo_resize_params params = random_bilinear();
  int8_t *input = edgy_s8(dmo_shape_size(&s.in)), *output = edgy_s8(dmo_shape_size(&s.out));

  dmo_resize_bilinear_s8(&params, &s.in, input, &s.out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&s.out) && output[i] == oracle_resize_bilinear_s8(&params, &s.in, input, &s.out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&s.out), "resize_bilinear_s8", i);
  free(input), free(output);
}

static void resize_bilinear_f32(void) {
  const shapes s = random_shapes();
  const dmo_resize_params params = random_bilinear();
  float *input = random_f32(dmo_shape_size(&s.in)), *output = random_f32(dmo_shape_size(&s.out));

  dmo_resize_bilinear_f32(&params, &s.in, input, &s.out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&s.out) &&
         fabs((double)output[i] - oracle_resize_bilinear_f32(&params, &s.in, input, &s.out, i)) < 1e-4) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&s.out), "resize_bilinear_f32", i);
  free(input), free(output);
}

void test_resize(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    resize_nearest();
    resize_bilinear_s8();
    resize_bilinear_f32();
  }
}
