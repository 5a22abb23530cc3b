// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Convolutions of every kind: pointwise, dilated, grouped, VALID with leftover pixels, rectangular, batched, float.
#include "oracle.h"
#include "dmo_conv.h"
#include "dmo_trace.h"
#include "example.h"

enum { MAX_ELEMENTS = 4096, MAX_CHANNELS = 16 };

// The layers run one after the other in the same buffers.
static int8_t input[MAX_ELEMENTS], output[MAX_ELEMENTS], filter[MAX_ELEMENTS];
static int32_t bias[MAX_CHANNELS], multiplier[MAX_CHANNELS], shift[MAX_CHANNELS];

static int run_s8(const char *name, const dmo_conv_geometry *geometry, const dmo_shape *input_shape,
                  const dmo_shape *filter_shape, const dmo_shape *output_shape) {
  const dmo_conv2d_params params = {
    .geometry = *geometry,
    .input_offset = -7,
    .output_offset = 4,
    .activation_min = -128,
    .activation_max = 100,
  };
  const dmo_quant_per_channel quant = { multiplier, shift };
  const int32_t input_size = dmo_shape_size(input_shape);
  const int32_t output_size = dmo_shape_size(output_shape);
  fill_s8(input, input_size, 1);
  fill_s8(filter, dmo_shape_size(filter_shape), 2);
  fill_bias(bias, output_shape->c, 3);
  fill_multipliers(multiplier, output_shape->c, 4);
  fill_shifts(shift, output_shape->c, 5, -8);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, input_size),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, output_size),
  };
  dmo_layer_begin(name, "conv2d", buffers, COUNT(buffers));
  dmo_conv2d_s8(&params, &quant, input_shape, input, filter_shape, filter, bias, output_shape, output);
  dmo_layer_end();

  for (int32_t i = 0; i < output_size; ++i) {
    const int32_t expected = oracle_conv2d_s8(&params, &quant, input_shape, input, filter_shape, filter, bias,
                                              output_shape, i);
    if (output[i] != expected) {
      return wrong_s32(name, i, expected, output[i]);
    }
  }
  return 0;
}

static int pointwise(void) {
  const dmo_conv_geometry geometry = { .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 };
  const dmo_shape in = { 1, 16, 16, 8 }, taps = { 16, 1, 1, 8 }, out = { 1, 16, 16, 16 };
  return run_s8("conv2d_1x1_s8", &geometry, &in, &taps, &out);
}

static int dilated(void) {
  const dmo_conv_geometry geometry = {
    .stride_h = 1, .stride_w = 1, .dilation_h = 2, .dilation_w = 2, .pad_h = 2, .pad_w = 2,
  };
  const dmo_shape in = { 1, 14, 14, 8 }, taps = { 8, 3, 3, 8 }, out = { 1, 14, 14, 8 };
  return run_s8("conv2d_dilated_s8", &geometry, &in, &taps, &out);
}

static int grouped(void) {
  const dmo_conv_geometry geometry = {
    .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .pad_h = 1, .pad_w = 1,
  };
  const dmo_shape in = { 1, 12, 12, 8 }, taps = { 12, 3, 3, 4 }, out = { 1, 12, 12, 12 };
  return run_s8("conv2d_grouped_s8", &geometry, &in, &taps, &out);
}

// The last row and column of the input are never loaded.
static int valid_with_leftover(void) {
  const dmo_conv_geometry geometry = { .stride_h = 2, .stride_w = 2, .dilation_h = 1, .dilation_w = 1 };
  const dmo_shape in = { 1, 16, 16, 8 }, taps = { 16, 1, 1, 8 }, out = { 1, 8, 8, 16 };
  return run_s8("conv2d_valid_s8", &geometry, &in, &taps, &out);
}

// SAME padding: 9 rows need 2 rows of padding for 3 taps, 14 columns 3 for 5 taps at stride 2, 1 of them on the left.
static int rectangular(void) {
  const dmo_conv_geometry geometry = {
    .stride_h = 1, .stride_w = 2, .dilation_h = 1, .dilation_w = 1, .pad_h = 1, .pad_w = 1,
  };
  const dmo_shape in = { 1, 9, 14, 4 }, taps = { 8, 3, 5, 4 }, out = { 1, 9, 7, 8 };
  return run_s8("conv2d_rectangular_s8", &geometry, &in, &taps, &out);
}

static int batched(void) {
  const dmo_conv_geometry geometry = {
    .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .pad_h = 1, .pad_w = 1,
  };
  const dmo_shape in = { 2, 10, 10, 4 }, taps = { 8, 3, 3, 4 }, out = { 2, 10, 10, 8 };
  return run_s8("conv2d_batched_s8", &geometry, &in, &taps, &out);
}

static int in_float(void) {
  static const dmo_shape in = { 1, 10, 10, 4 }, taps = { 8, 3, 3, 4 }, out = { 1, 10, 10, 8 };
  static float input_f32[10 * 10 * 4], output_f32[10 * 10 * 8], filter_f32[8 * 3 * 3 * 4], bias_f32[8];
  const dmo_conv2d_f32_params params = {
    .geometry = { .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .pad_h = 1, .pad_w = 1 },
    .activation_min = -100.0f,
    .activation_max = 60.0f,
  };
  fill_f32(input_f32, COUNT(input_f32), 1);
  fill_f32(filter_f32, COUNT(filter_f32), 2);
  fill_f32(bias_f32, COUNT(bias_f32), 3);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_FLOAT32, input_f32, sizeof input_f32),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output_f32, sizeof output_f32),
  };
  dmo_layer_begin("conv2d_f32", "conv2d", buffers, COUNT(buffers));
  dmo_conv2d_f32(&params, &in, input_f32, &taps, filter_f32, bias_f32, &out, output_f32);
  dmo_layer_end();

  for (int32_t i = 0; i < dmo_shape_size(&out); ++i) {
    const float expected = oracle_conv2d_f32(&params, &in, input_f32, &taps, filter_f32, bias_f32, &out, i);
    if (output_f32[i] != expected) {
      return wrong_f32("conv2d_f32", i, expected, output_f32[i]);
    }
  }
  return 0;
}

int main(void) {
  return pointwise() || dilated() || grouped() || valid_with_leftover() || rectangular() || batched() || in_float();
}
