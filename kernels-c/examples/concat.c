// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Concatenation along channels, which interleaves the inputs, and along height, which puts one behind the other.
#include "oracle.h"
#include "dmo_layout.h"
#include "dmo_trace.h"
#include "example.h"

static int run_s8(const char *name, dmo_axis axis, const dmo_shape shapes[2], const dmo_shape *output_shape) {
  static int8_t input1[512], input2[512], output[1024];
  const int8_t *const inputs[] = { input1, input2 };
  const int32_t size1 = dmo_shape_size(&shapes[0]);
  const int32_t size2 = dmo_shape_size(&shapes[1]);
  const int32_t output_size = dmo_shape_size(output_shape);
  fill_s8(input1, size1, 1);
  fill_s8(input2, size2, 2);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input1", DMO_INPUT, DMO_INT8, input1, size1),
    DMO_BUFFER("input2", DMO_INPUT, DMO_INT8, input2, size2),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, output_size),
  };
  dmo_layer_begin(name, "concat", buffers, COUNT(buffers));
  dmo_concat_s8(axis, 2, shapes, inputs, output);
  dmo_layer_end();

  for (int32_t i = 0; i < output_size; ++i) {
    int32_t input;
    const int64_t source = oracle_concat_source(axis, shapes, output_shape, i, &input);
    if (output[i] != inputs[input][source]) {
      return wrong_s32(name, i, inputs[input][source], output[i]);
    }
  }
  return 0;
}

static int channels(void) {
  const dmo_shape in[] = { { 1, 8, 8, 8 }, { 1, 8, 8, 5 } }, out = { 1, 8, 8, 13 };
  return run_s8("concat_channels_s8", DMO_AXIS_C, in, &out);
}

static int height(void) {
  const dmo_shape in[] = { { 1, 4, 8, 8 }, { 1, 6, 8, 8 } }, out = { 1, 10, 8, 8 };
  return run_s8("concat_height_s8", DMO_AXIS_H, in, &out);
}

static int in_float(void) {
  static const dmo_shape shapes[] = { { 1, 6, 6, 3 }, { 1, 6, 6, 5 } }, output_shape = { 1, 6, 6, 8 };
  static float input1[6 * 6 * 3], input2[6 * 6 * 5], output[6 * 6 * 8];
  const float *const inputs[] = { input1, input2 };
  fill_f32(input1, COUNT(input1), 1);
  fill_f32(input2, COUNT(input2), 2);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input1", DMO_INPUT, DMO_FLOAT32, input1, sizeof input1),
    DMO_BUFFER("input2", DMO_INPUT, DMO_FLOAT32, input2, sizeof input2),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output, sizeof output),
  };
  dmo_layer_begin("concat_channels_f32", "concat", buffers, COUNT(buffers));
  dmo_concat_f32(DMO_AXIS_C, 2, shapes, inputs, output);
  dmo_layer_end();

  for (int32_t i = 0; i < dmo_shape_size(&output_shape); ++i) {
    int32_t input;
    const int64_t source = oracle_concat_source(DMO_AXIS_C, shapes, &output_shape, i, &input);
    if (output[i] != inputs[input][source]) {
      return wrong_f32("concat_channels_f32", i, inputs[input][source], output[i]);
    }
  }
  return 0;
}

int main(void) {
  return channels() || height() || in_float();
}
