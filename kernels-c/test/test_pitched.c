// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A pitched kernel within larger tensors does what slice, plain kernel and paste do, and touches nothing between.
#include "check.h"
#include "dmo_pitched.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 1500, MAX_INPUTS = 2 };

// A dense tensor, and the same elements within bytes that are none of it.
typedef struct {
  dmo_shape shape;
  dmo_pitch pitch;
  int32_t element_bytes, bytes;
  char *dense, *spread, *before;
} view;

static int32_t gap(void) {
  return random_between(0, 1) * random_between(1, 5);
}

static view make_view(dmo_shape shape, int32_t element_bytes) {
  view v = { .shape = shape, .element_bytes = element_bytes };
  v.pitch.pixel = shape.c + gap();
  v.pitch.row = (shape.w - 1) * v.pitch.pixel + shape.c + gap();
  v.bytes = (dmo_pitched_offset(&v.pitch, shape.h - 1, shape.w - 1, shape.c - 1) + 1) * element_bytes;
  const int32_t dense_bytes = dmo_shape_size(&shape) * element_bytes;
  if (element_bytes == 4) {
    v.dense = (char *)random_f32(dense_bytes / 4);
    v.spread = (char *)random_f32(v.bytes / 4);
  } else {
    v.dense = (char *)edgy_s8(dense_bytes);
    v.spread = (char *)random_s8(v.bytes);
  }
  v.before = malloc((size_t)v.bytes);
  return v;
}

static void paste(const view *v, char *to) {
  for (int32_t y = 0; y < v->shape.h; ++y) {
    for (int32_t x = 0; x < v->shape.w; ++x) {
      const size_t bytes = (size_t)(v->shape.c * v->element_bytes);
      const int32_t at = (y * v->shape.w + x) * v->shape.c * v->element_bytes;
      memcpy(to + dmo_pitched_offset(&v->pitch, y, x, 0) * v->element_bytes, v->dense + at, bytes);
    }
  }
}

static view make_input(dmo_shape shape, int32_t element_bytes) {
  const view v = make_view(shape, element_bytes);
  paste(&v, v.spread);
  memcpy(v.before, v.spread, (size_t)v.bytes);
  return v;
}

static view make_output(dmo_shape shape, int32_t element_bytes) {
  const view v = make_view(shape, element_bytes);
  memcpy(v.before, v.spread, (size_t)v.bytes);
  return v;
}

static void check_output(const char *what, view *v) {
  paste(v, v->before);
  CHECK(memcmp(v->before, v->spread, (size_t)v->bytes) == 0, what, v->bytes);
  free(v->dense), free(v->spread), free(v->before);
}

static void check_input(const char *what, view *v) {
  CHECK(memcmp(v->before, v->spread, (size_t)v->bytes) == 0, what, v->bytes);
  free(v->dense), free(v->spread), free(v->before);
}

static dmo_conv_geometry random_geometry(void) {
  return (dmo_conv_geometry){
    .stride_h = random_between(1, 3),
    .stride_w = random_between(1, 3),
    .dilation_h = random_between(1, 2),
    .dilation_w = random_between(1, 2),
    .pad_h = random_between(0, 2),
    .pad_w = random_between(0, 2),
  };
}

#define S8(v) (int8_t *)(v).dense
#define S8_SPREAD(v) (int8_t *)(v).spread
#define F32(v) (float *)(void *)(v).dense
#define F32_SPREAD(v) (float *)(void *)(v).spread

static void convolutions(bool depthwise) {
  const int32_t groups = random_between(1, 2);
  const int32_t depth = random_between(1, 5);
  const dmo_shape in = { 1, random_between(1, 6), random_between(1, 6), depthwise ? depth : groups * depth };
  const int32_t channels = depthwise ? depth * random_between(1, 2) : groups * random_between(1, 4);
  const dmo_shape taps = { depthwise ? 1 : channels, random_between(1, 3), random_between(1, 3),
                           depthwise ? channels : depth };
  const dmo_shape out = { 1, random_between(1, 5), random_between(1, 5), channels };
  const dmo_conv2d_params params = {
    .geometry = random_geometry(),
    .input_offset = random_between(-127, 128),
    .output_offset = random_between(-128, 127),
    .activation_min = random_between(-128, 0),
    .activation_max = random_between(0, 127),
  };
  const dmo_conv2d_f32_params params_f32 = { params.geometry, -50.0f, 50.0f };
  int8_t *filter = random_s8(dmo_shape_size(&taps));
  float *filter_f32 = random_f32(dmo_shape_size(&taps));
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(channels, -5000, 5000);
  int32_t *multiplier = random_s32(channels, 1 << 30, INT32_MAX);
  int32_t *shift = random_s32(channels, -11, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };
  view input = make_input(in, 1), output = make_output(out, 1);
  view input_f32 = make_input(in, 4), output_f32 = make_output(out, 4);
  const char *what = depthwise ? "depthwise_conv2d_pitched" : "conv2d_pitched";

  (depthwise ? dmo_depthwise_conv2d_s8 : dmo_conv2d_s8)(&params, &quant, &in, S8(input), &taps, filter, bias, &out,
                                                       S8(output));
  (depthwise ? dmo_depthwise_conv2d_pitched_s8 : dmo_conv2d_pitched_s8)(
      &params, &quant, &in, &input.pitch, S8_SPREAD(input), &taps, filter, bias, &out, &output.pitch,
      S8_SPREAD(output));
  (depthwise ? dmo_depthwise_conv2d_f32 : dmo_conv2d_f32)(&params_f32, &in, F32(input_f32), &taps, filter_f32, NULL,
                                                         &out, F32(output_f32));
  (depthwise ? dmo_depthwise_conv2d_pitched_f32 : dmo_conv2d_pitched_f32)(
      &params_f32, &in, &input_f32.pitch, F32_SPREAD(input_f32), &taps, filter_f32, NULL, &out, &output_f32.pitch,
      F32_SPREAD(output_f32));
  check_output(what, &output), check_input(what, &input);
  check_output(what, &output_f32), check_input(what, &input_f32);
  free(filter), free(filter_f32), free(bias), free(multiplier), free(shift);
}

// Padding so small that each window holds an element of the input.
static void pools(bool average) {
  const int32_t filter_h = random_between(1, 3), filter_w = random_between(1, 3);
  const dmo_pool_geometry geometry = {
    .filter_h = filter_h,
    .filter_w = filter_w,
    .stride_h = random_between(1, 2),
    .stride_w = random_between(1, 2),
    .pad_h = random_between(0, filter_h - 1),
    .pad_w = random_between(0, filter_w - 1),
  };
  const dmo_shape in = { 1, random_between(1, 6), random_between(1, 6), random_between(1, 5) };
  const dmo_shape out = { 1, random_between(1, 1 + (in.h - 1) / geometry.stride_h),
                          random_between(1, 1 + (in.w - 1) / geometry.stride_w), in.c };
  const dmo_pool_params params = { geometry, random_between(-128, 0), random_between(0, 127) };
  const dmo_pool_f32_params params_f32 = { geometry, -3.0f, 3.0f };
  view input = make_input(in, 1), output = make_output(out, 1);
  view input_f32 = make_input(in, 4), output_f32 = make_output(out, 4);
  const char *what = average ? "avg_pool_pitched" : "max_pool_pitched";

  (average ? dmo_avg_pool_s8 : dmo_max_pool_s8)(&params, &in, S8(input), &out, S8(output));
  (average ? dmo_avg_pool_pitched_s8 : dmo_max_pool_pitched_s8)(&params, &in, &input.pitch, S8_SPREAD(input), &out,
                                                               &output.pitch, S8_SPREAD(output));
  (average ? dmo_avg_pool_f32 : dmo_max_pool_f32)(&params_f32, &in, F32(input_f32), &out, F32(output_f32));
  (average ? dmo_avg_pool_pitched_f32 : dmo_max_pool_pitched_f32)(
      &params_f32, &in, &input_f32.pitch, F32_SPREAD(input_f32), &out, &output_f32.pitch, F32_SPREAD(output_f32));
  check_output(what, &output), check_input(what, &input);
  check_output(what, &output_f32), check_input(what, &input_f32);
}

static dmo_quant_per_tensor random_ratio(void) {
  return (dmo_quant_per_tensor){ random_between(1 << 30, INT32_MAX), random_between(-6, 0) };
}

enum { ADD, MUL, RELU, RELU6 };

static void elementwise(int kind) {
  const dmo_shape shape = { 1, random_between(1, 6), random_between(1, 6), random_between(1, 6) };
  const int32_t count = dmo_shape_size(&shape);
  view input[MAX_INPUTS] = { make_input(shape, 1), make_input(shape, 1) };
  view input_f32[MAX_INPUTS] = { make_input(shape, 4), make_input(shape, 4) };
  view output = make_output(shape, 1), output_f32 = make_output(shape, 4);
  const int32_t offset1 = random_between(-127, 128), offset2 = random_between(-127, 128);
  const int32_t offset = random_between(-128, 127), min = random_between(-128, 0), max = random_between(0, 127);
  const dmo_pitch *pitch1 = &input[0].pitch, *pitch2 = &input[1].pitch;
  const dmo_pitch *pitch1_f32 = &input_f32[0].pitch, *pitch2_f32 = &input_f32[1].pitch;
  const int8_t *from1 = S8_SPREAD(input[0]), *from2 = S8_SPREAD(input[1]);
  const float *from1_f32 = F32_SPREAD(input_f32[0]), *from2_f32 = F32_SPREAD(input_f32[1]);
  if (kind == ADD) {
    const dmo_quant_per_tensor fine = { random_between(1 << 30, INT32_MAX), -18 };
    const dmo_add_params params = { offset1, offset2, offset, random_ratio(), random_ratio(), fine, min, max };
    dmo_add_s8(&params, count, S8(input[0]), S8(input[1]), S8(output));
    dmo_add_pitched_s8(&params, &shape, pitch1, from1, pitch2, from2, &output.pitch, S8_SPREAD(output));
    dmo_add_f32(-5.0f, 5.0f, count, F32(input_f32[0]), F32(input_f32[1]), F32(output_f32));
    dmo_add_pitched_f32(-5.0f, 5.0f, &shape, pitch1_f32, from1_f32, pitch2_f32, from2_f32, &output_f32.pitch,
                        F32_SPREAD(output_f32));
  } else if (kind == MUL) {
    const dmo_mul_params params = { offset1, offset2, offset, random_ratio(), min, max };
    dmo_mul_s8(&params, count, S8(input[0]), S8(input[1]), S8(output));
    dmo_mul_pitched_s8(&params, &shape, pitch1, from1, pitch2, from2, &output.pitch, S8_SPREAD(output));
    dmo_mul_f32(-5.0f, 5.0f, count, F32(input_f32[0]), F32(input_f32[1]), F32(output_f32));
    dmo_mul_pitched_f32(-5.0f, 5.0f, &shape, pitch1_f32, from1_f32, pitch2_f32, from2_f32, &output_f32.pitch,
                        F32_SPREAD(output_f32));
  } else {
    const dmo_relu_params params = { offset1, offset, random_ratio(), min, max };
    dmo_relu_s8(&params, count, S8(input[0]), S8(output));
    dmo_relu_pitched_s8(&params, &shape, pitch1, from1, &output.pitch, S8_SPREAD(output));
    (kind == RELU ? dmo_relu_f32 : dmo_relu6_f32)(count, F32(input_f32[0]), F32(output_f32));
    (kind == RELU ? dmo_relu_pitched_f32 : dmo_relu6_pitched_f32)(&shape, pitch1_f32, from1_f32, &output_f32.pitch,
                                                                 F32_SPREAD(output_f32));
  }
  check_output("elementwise pitched s8", &output), check_output("elementwise pitched f32", &output_f32);
  for (int32_t i = 0; i < MAX_INPUTS; ++i) {
    check_input("elementwise pitched s8", &input[i]), check_input("elementwise pitched f32", &input_f32[i]);
  }
}

static void pad(int32_t element_bytes) {
  const dmo_shape in = { 1, random_between(1, 4), random_between(1, 4), random_between(1, 4) };
  const dmo_padding before = { 0, random_between(0, 2), random_between(0, 2), random_between(0, 2) };
  const dmo_shape out = { 1, in.h + before.h + random_between(0, 2), in.w + before.w + random_between(0, 2),
                          in.c + before.c + random_between(0, 2) };
  const float value = 0.625f;
  view input = make_input(in, element_bytes), output = make_output(out, element_bytes);
  dmo_pad(&before, &value, element_bytes, &in, input.dense, &out, output.dense);
  dmo_pad_pitched(&before, &value, element_bytes, &in, &input.pitch, input.spread, &out, &output.pitch, output.spread);
  check_output("pad_pitched", &output), check_input("pad_pitched", &input);
}

void test_pitched(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    convolutions(false), convolutions(true);
    pools(false), pools(true);
    elementwise(ADD), elementwise(MUL), elementwise(RELU), elementwise(RELU6);
    pad(1), pad(4);
  }
}
