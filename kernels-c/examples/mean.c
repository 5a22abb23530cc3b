// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Mean over height and width, 8 bit and float. The float kernel accumulates in its output.
#include "oracle.h"
#include "dmo_reduce.h"
#include "dmo_trace.h"
#include "example.h"

static int in_8_bit(void) {
  static const dmo_shape input_shape = { 1, 14, 14, 16 }, output_shape = { 1, 1, 1, 16 };
  static int8_t input[14 * 14 * 16], output[16];
  const dmo_mean_params params = { .input_zero_point = 11, .output_zero_point = -4, .output = { 1823169791, -5 } };
  fill_s8(input, COUNT(input), 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("mean_s8", "mean", buffers, COUNT(buffers));
  dmo_mean_s8(&params, &input_shape, input, &output_shape, output);
  dmo_layer_end();

  for (int32_t i = 0; i < dmo_shape_size(&output_shape); ++i) {
    const int32_t expected = oracle_mean_s8(&params, &input_shape, input, &output_shape, i);
    if (output[i] != expected) {
      return wrong_s32("mean_s8", i, expected, output[i]);
    }
  }
  return 0;
}

static int in_float(void) {
  static const dmo_shape input_shape = { 1, 10, 10, 8 }, output_shape = { 1, 1, 1, 8 };
  static float input[10 * 10 * 8], output[8];
  fill_f32(input, COUNT(input), 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_FLOAT32, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output, sizeof output),
  };
  dmo_layer_begin("mean_f32", "mean", buffers, COUNT(buffers));
  dmo_mean_f32(&input_shape, input, &output_shape, output);
  dmo_layer_end();

  for (int32_t i = 0; i < dmo_shape_size(&output_shape); ++i) {
    const float expected = oracle_mean_f32(&input_shape, input, &output_shape, i);
    if (output[i] != expected) {
      return wrong_f32("mean_f32", i, expected, output[i]);
    }
  }
  return 0;
}

int main(void) {
  return in_8_bit() || in_float();
}
