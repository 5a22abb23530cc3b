// SPDX-License-Identifier: MIT OR Apache-2.0
//
// ReLU and ReLU6, 8 bit and float.
#include "oracle.h"
#include "dmo_elementwise.h"
#include "dmo_trace.h"
#include "example.h"

enum { ELEMENTS = 16 * 16 * 8 };

static int run_s8(const char *name, const char *op, int32_t activation_max) {
  static int8_t input[ELEMENTS], output[ELEMENTS];
  const dmo_relu_params params = {
    .input_offset = 12,
    .output_offset = -100,
    .output = { 1503238553, 1 },
    .activation_min = -100, // the output's zero point
    .activation_max = activation_max,
  };
  fill_s8(input, ELEMENTS, 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin(name, op, buffers, COUNT(buffers));
  dmo_relu_s8(&params, ELEMENTS, input, output);
  dmo_layer_end();

  for (int32_t i = 0; i < ELEMENTS; ++i) {
    const int32_t expected = oracle_relu_s8(&params, input, i);
    if (output[i] != expected) {
      return wrong_s32(name, i, expected, output[i]);
    }
  }
  return 0;
}

static int run_f32(const char *name, const char *op, void (*kernel)(int32_t, const float *, float *), float max) {
  static float input[ELEMENTS], output[ELEMENTS];
  fill_f32(input, ELEMENTS, 1);
  for (int32_t i = 0; i < ELEMENTS; ++i) {
    input[i] *= 2.0f; // up to 7.75, beyond ReLU6's bound
  }

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_FLOAT32, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output, sizeof output),
  };
  dmo_layer_begin(name, op, buffers, COUNT(buffers));
  kernel(ELEMENTS, input, output);
  dmo_layer_end();

  for (int32_t i = 0; i < ELEMENTS; ++i) {
    const float expected = (float)oracle_clamp_f64((double)input[i], 0.0, (double)max);
    if (output[i] != expected) {
      return wrong_f32(name, i, expected, output[i]);
    }
  }
  return 0;
}

int main(void) {
  return run_s8("relu_s8", "relu", 127) || run_s8("relu6_s8", "relu6", 40) ||
         run_f32("relu_f32", "relu", dmo_relu_f32, 1000.0f) || run_f32("relu6_f32", "relu6", dmo_relu6_f32, 6.0f);
}
