// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "dmo_depthwise_in_place.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 4000 };

static int32_t largest(int32_t one, int32_t other) {
  return one > other ? one : other;
}

static bool equal(const int8_t *one, const int8_t *other, int32_t count) {
  return memcmp(one, other, (size_t)count) == 0;
}

// Apart, and in one buffer where that is safe: what the reference kernel computes.
static void check_shape(const dmo_shape in, const dmo_shape taps, const dmo_shape out,
                        const dmo_conv_geometry geometry) {
  const int32_t in_bytes = dmo_shape_size(&in);
  const int32_t out_bytes = dmo_shape_size(&out);
  const int32_t min = random_between(-128, 0);
  const dmo_conv2d_params params = {
    .geometry = geometry,
    .input_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .activation_min = min,
    .activation_max = random_between(min, 127),
  };
  int8_t *input = edgy_s8(in_bytes);
  int8_t *filter = edgy_s8(dmo_shape_size(&taps));
  int8_t *expected = random_s8(out_bytes);
  int8_t *output = random_s8(out_bytes);
  int8_t *both = random_s8(largest(in_bytes, out_bytes));
  int8_t *scratch = random_s8(dmo_depthwise_conv2d_in_place_s8_scratch_bytes(&in));
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(in.c, -5000, 5000);
  int32_t *multiplier = random_s32(in.c, 1 << 30, INT32_MAX);
  int32_t *shift = random_s32(in.c, -11, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };

  dmo_depthwise_conv2d_s8(&params, &quant, &in, input, &taps, filter, bias, &out, expected);
  dmo_depthwise_conv2d_in_place_s8(&params, &quant, &in, input, &taps, filter, bias, &out, output, scratch);
  CHECK(equal(output, expected, out_bytes), "depthwise_conv2d_in_place_s8 apart", in_bytes);
  if (in.n == 1 || out_bytes <= in_bytes) {
    memcpy(both, input, (size_t)in_bytes);
    dmo_depthwise_conv2d_in_place_s8(&params, &quant, &in, both, &taps, filter, bias, &out, both, scratch);
    CHECK(equal(both, expected, out_bytes), "depthwise_conv2d_in_place_s8 in place", in_bytes);
  }
  free(input), free(filter), free(expected), free(output), free(both), free(scratch);
  free(bias), free(multiplier), free(shift);
}

static void random_case(void) {
  const dmo_shape in = random_shape(3, 8, 8, 5);
  const dmo_shape taps = { 1, random_between(1, 4), random_between(1, 4), in.c };
  const dmo_shape out = { in.n, random_between(1, 8), random_between(1, 8), in.c };
  check_shape(in, taps, out, random_conv_geometry());
}

// Every extent to 4, filter to 3, stride to 2 and padding to 2 of one axis, the other one row.
static void all_small(bool columns) {
  for (int32_t n = 0; n < 2 * 4 * 4 * 3 * 2 * 3; ++n) {
    const int32_t channels = 1 + 2 * (n % 2);
    const int32_t extent = 1 + n / 2 % 4, outputs = 1 + n / 8 % 4, filter = 1 + n / 32 % 3;
    const int32_t stride = 1 + n / 96 % 2, pad = n / 192 % 3;
    const dmo_shape in = { 1, columns ? 2 : extent, columns ? extent : 2, channels };
    const dmo_shape out = { 1, columns ? 2 : outputs, columns ? outputs : 2, channels };
    const dmo_shape taps = { 1, columns ? 1 : filter, columns ? filter : 1, channels };
    const dmo_conv_geometry geometry = {
      .stride_h = columns ? 1 : stride,
      .stride_w = columns ? stride : 1,
      .dilation_h = 1,
      .dilation_w = 1,
      .pad_h = columns ? 0 : pad,
      .pad_w = columns ? pad : 0,
    };
    check_shape(in, taps, out, geometry);
  }
}

void test_depthwise_in_place(void) {
  all_small(false);
  all_small(true);
  for (int32_t n = 0; n < CASES; ++n) {
    random_case();
  }
}
