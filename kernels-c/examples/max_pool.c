// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Maximum pooling, 8 bit and float.
#include "oracle.h"
#include "dmo_pool.h"
#include "dmo_trace.h"
#include "example.h"

static int in_8_bit(void) {
  static const dmo_shape input_shape = { 1, 16, 16, 16 }, output_shape = { 1, 8, 8, 16 };
  static int8_t input[1 * 16 * 16 * 16], output[1 * 8 * 8 * 16];
  const dmo_pool_params params = {
    .geometry = { .filter_h = 2, .filter_w = 2, .stride_h = 2, .stride_w = 2 },
    .activation_min = -128,
    .activation_max = 120,
  };
  fill_s8(input, COUNT(input), 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("max_pool_s8", "max_pool", buffers, COUNT(buffers));
  dmo_max_pool_s8(&params, &input_shape, input, &output_shape, output);
  dmo_layer_end();

  for (int32_t i = 0; i < dmo_shape_size(&output_shape); ++i) {
    const int32_t expected = oracle_max_pool_s8(&params, &input_shape, input, &output_shape, i);
    if (output[i] != expected) {
      return wrong_s32("max_pool_s8", i, expected, output[i]);
    }
  }
  return 0;
}

static int in_float(void) {
  static const dmo_shape input_shape = { 1, 12, 12, 8 }, output_shape = { 1, 12, 12, 8 };
  static float input[1 * 12 * 12 * 8], output[1 * 12 * 12 * 8];
  const dmo_pool_f32_params params = {
    .geometry = { .filter_h = 3, .filter_w = 3, .stride_h = 1, .stride_w = 1, .pad_h = 1, .pad_w = 1 },
    .activation_min = -3.0f,
    .activation_max = 3.0f,
  };
  fill_f32(input, COUNT(input), 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_FLOAT32, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output, sizeof output),
  };
  dmo_layer_begin("max_pool_f32", "max_pool", buffers, COUNT(buffers));
  dmo_max_pool_f32(&params, &input_shape, input, &output_shape, output);
  dmo_layer_end();

  for (int32_t i = 0; i < dmo_shape_size(&output_shape); ++i) {
    const float expected = oracle_max_pool_f32(&params, &input_shape, input, &output_shape, i);
    if (output[i] != expected) {
      return wrong_f32("max_pool_f32", i, expected, output[i]);
    }
  }
  return 0;
}

int main(void) {
  return in_8_bit() || in_float();
}
