// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Multiplication of two tensors, 8 bit and float.
#include "oracle.h"
#include "dmo_elementwise.h"
#include "dmo_trace.h"
#include "example.h"

enum { ELEMENTS = 16 * 16 * 8 };

static int in_8_bit(void) {
  static int8_t input1[ELEMENTS], input2[ELEMENTS], output[ELEMENTS];
  const dmo_mul_params params = {
    .input1_offset = 10,
    .input2_offset = -25,
    .output_offset = 6,
    .output = { 1717986918, -7 },
    .activation_min = -128,
    .activation_max = 110,
  };
  fill_s8(input1, ELEMENTS, 1);
  fill_s8(input2, ELEMENTS, 2);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input1", DMO_INPUT, DMO_INT8, input1, sizeof input1),
    DMO_BUFFER("input2", DMO_INPUT, DMO_INT8, input2, sizeof input2),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("mul_s8", "mul", buffers, COUNT(buffers));
  dmo_mul_s8(&params, ELEMENTS, input1, input2, output);
  dmo_layer_end();

  for (int32_t i = 0; i < ELEMENTS; ++i) {
    const int32_t expected = oracle_mul_s8(&params, input1, input2, i);
    if (output[i] != expected) {
      return wrong_s32("mul_s8", i, expected, output[i]);
    }
  }
  return 0;
}

static int in_float(void) {
  static float input1[ELEMENTS], input2[ELEMENTS], output[ELEMENTS];
  fill_f32(input1, ELEMENTS, 1);
  fill_f32(input2, ELEMENTS, 2);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input1", DMO_INPUT, DMO_FLOAT32, input1, sizeof input1),
    DMO_BUFFER("input2", DMO_INPUT, DMO_FLOAT32, input2, sizeof input2),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output, sizeof output),
  };
  dmo_layer_begin("mul_f32", "mul", buffers, COUNT(buffers));
  dmo_mul_f32(-6.0f, 5.0f, ELEMENTS, input1, input2, output);
  dmo_layer_end();

  for (int32_t i = 0; i < ELEMENTS; ++i) {
    const double exact = (double)input1[i] * (double)input2[i];
    const float expected = (float)oracle_clamp_f64(exact, -6.0, 5.0);
    if (output[i] != expected) {
      return wrong_f32("mul_f32", i, expected, output[i]);
    }
  }
  return 0;
}

int main(void) {
  return in_8_bit() || in_float();
}
