// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Padding, 8 bit and float.
#include "oracle.h"
#include "dmo_layout.h"
#include "dmo_trace.h"
#include "example.h"

static int in_8_bit(void) {
  static const dmo_shape input_shape = { 1, 12, 12, 8 }, output_shape = { 1, 15, 15, 8 };
  static int8_t input[12 * 12 * 8], output[15 * 15 * 8];
  const dmo_padding before = { .h = 1, .w = 2 };
  const int8_t value = -5;
  fill_s8(input, COUNT(input), 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("pad_s8", "pad", buffers, COUNT(buffers));
  dmo_pad_s8(&before, value, &input_shape, input, &output_shape, output);
  dmo_layer_end();

  for (int32_t i = 0; i < dmo_shape_size(&output_shape); ++i) {
    const int64_t source = oracle_pad_source(&before, &input_shape, &output_shape, i);
    const int8_t expected = source < 0 ? value : input[source];
    if (output[i] != expected) {
      return wrong_s32("pad_s8", i, expected, output[i]);
    }
  }
  return 0;
}

static int in_float(void) {
  static const dmo_shape input_shape = { 1, 8, 8, 4 }, output_shape = { 1, 10, 10, 4 };
  static float input[8 * 8 * 4], output[10 * 10 * 4];
  const dmo_padding before = { .h = 1, .w = 1 };
  const float value = 0.5f;
  fill_f32(input, COUNT(input), 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_FLOAT32, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output, sizeof output),
  };
  dmo_layer_begin("pad_f32", "pad", buffers, COUNT(buffers));
  dmo_pad_f32(&before, value, &input_shape, input, &output_shape, output);
  dmo_layer_end();

  for (int32_t i = 0; i < dmo_shape_size(&output_shape); ++i) {
    const int64_t source = oracle_pad_source(&before, &input_shape, &output_shape, i);
    const float expected = source < 0 ? value : input[source];
    if (output[i] != expected) {
      return wrong_f32("pad_f32", i, expected, output[i]);
    }
  }
  return 0;
}

int main(void) {
  return in_8_bit() || in_float();
}
