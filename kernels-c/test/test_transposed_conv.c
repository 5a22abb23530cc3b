// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_operators.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 3000 };

// Shapes of one case. The output's extent is anything from 1 to beyond the last tap.
typedef struct {
  dmo_conv_geometry geometry;
  dmo_shape in, filter, out;
} layer;

static layer random_layer(void) {
  layer l = {
    .geometry = { random_between(1, 3), random_between(1, 3), 1, 1, random_between(0, 2), random_between(0, 2) },
    .in = random_shape(2, 5, 5, 4),
    .filter = random_shape(4, 4, 4, 1),
  };
  const dmo_conv_geometry *g = &l.geometry;
  l.filter.c = l.in.c;
  l.out = (dmo_shape){ l.in.n, random_between(1, l.in.h * g->stride_h + l.filter.h),
                       random_between(1, l.in.w * g->stride_w + l.filter.w), l.filter.n };
  return l;
}

static void transposed_conv2d_s8(void) {
  const layer l = random_layer();
  const dmo_conv2d_params params = {
    .geometry = l.geometry,
    .input_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .activation_min = random_between(-128, 0),
    .activation_max = random_between(0, 127),
  };
  const int32_t count = dmo_shape_size(&l.out);
  int32_t *multiplier = random_s32(l.out.c, 1 << 30, INT32_MAX), *shift = random_s32(l.out.c, -12, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };
  int8_t *input = edgy_s8(dmo_shape_size(&l.in)), *filter = edgy_s8(dmo_shape_size(&l.filter));
  int8_t *output = edgy_s8(count);
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(l.out.c, -5000, 5000);
  int32_t *scratch = random_s32(dmo_transposed_conv2d_s8_scratch_bytes(&l.out) / 4, INT32_MIN, INT32_MAX);

  dmo_transposed_conv2d_s8(&params, &quant, &l.in, input, &l.filter, filter, bias, &l.out, output, scratch);
  int32_t i = 0;
  while (i < count && output[i] == oracle_transposed_conv2d_s8(&params, &quant, &l.in, input, &l.filter, filter, bias,
                                                               &l.out, i)) {
    ++i;
  }
  CHECK(i == count, "transposed_conv2d_s8", i);

  // One batch is loaded before it is stored: in place it gives the same.
  if (l.in.n == 1) {
    const int32_t input_size = dmo_shape_size(&l.in);
    int8_t *both = edgy_s8(count > input_size ? count : input_size);
    memcpy(both, input, (size_t)input_size);
    dmo_transposed_conv2d_s8(&params, &quant, &l.in, both, &l.filter, filter, bias, &l.out, both, scratch);
    CHECK(memcmp(both, output, (size_t)count) == 0, "transposed_conv2d_s8 in place", 0);
    free(both);
  }
  free(multiplier), free(shift), free(input), free(filter), free(output), free(bias), free(scratch);
}

static void transposed_conv2d_s16(void) {
  const layer l = random_layer();
  const dmo_conv2d_params params = {
    .geometry = l.geometry,
    .activation_min = random_between(-32768, 0),
    .activation_max = random_between(0, 32767),
  };
  const int32_t count = dmo_shape_size(&l.out);
  const bool wide = random_between(0, 3) == 0; // sums beyond 32 bits
  int32_t *multiplier = random_s32(l.out.c, 1 << 30, INT32_MAX);
  int32_t *shift = wide ? random_s32(l.out.c, -28, -14) : random_s32(l.out.c, -12, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };
  int16_t *input = edgy_s16(dmo_shape_size(&l.in)), *output = edgy_s16(count);
  int8_t *filter = edgy_s8(dmo_shape_size(&l.filter));
  int64_t *bias = random_between(0, 3) == 0 ? NULL : random_s64(l.out.c, -5000000, 5000000, wide ? 1 << 21 : 1);
  int64_t *scratch = random_s64(dmo_transposed_conv2d_s16_scratch_bytes(&l.out) / 8, INT32_MIN, INT32_MAX, 3);

  dmo_transposed_conv2d_s16(&params, &quant, &l.in, input, &l.filter, filter, bias, &l.out, output, scratch);
  int32_t i = 0;
  while (i < count && output[i] == oracle_transposed_conv2d_s16(&params, &quant, &l.in, input, &l.filter, filter, bias,
                                                                &l.out, i)) {
    ++i;
  }
  CHECK(i == count, "transposed_conv2d_s16", i);
  free(multiplier), free(shift), free(input), free(filter), free(output), free(bias), free(scratch);
}

static void transposed_conv2d_f32(void) {
  const layer l = random_layer();
  const dmo_conv2d_f32_params params = {
    .geometry = l.geometry,
    .activation_min = (float)random_between(-100, 0),
    .activation_max = (float)random_between(0, 100),
  };
  const int32_t count = dmo_shape_size(&l.out);
  float *input = random_f32(dmo_shape_size(&l.in)), *filter = random_f32(dmo_shape_size(&l.filter));
  float *output = random_f32(count);
  float *bias = random_between(0, 3) == 0 ? NULL : random_f32(l.out.c);

  dmo_transposed_conv2d_f32(&params, &l.in, input, &l.filter, filter, bias, &l.out, output);
  int32_t i = 0;
  while (i < count &&
         output[i] == oracle_transposed_conv2d_f32(&params, &l.in, input, &l.filter, filter, bias, &l.out, i)) {
    ++i;
  }
  CHECK(i == count, "transposed_conv2d_f32", i);
  free(input), free(filter), free(output), free(bias);
}

void test_transposed_conv(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    transposed_conv2d_s8();
    transposed_conv2d_s16();
    transposed_conv2d_f32();
  }
}
