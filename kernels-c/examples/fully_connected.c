// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fully connected layers, 8 bit and float. The one example that marks its weights too, as constants.
#include "oracle.h"
#include "dmo_matmul.h"
#include "dmo_trace.h"
#include "example.h"

static int in_8_bit(void) {
  enum { BATCHES = 2, INPUTS = 128, OUTPUTS = 64 };
  static int8_t input[BATCHES * INPUTS], output[BATCHES * OUTPUTS], filter[OUTPUTS * INPUTS];
  static int32_t bias[OUTPUTS];
  const dmo_fully_connected_params params = {
    .input_offset = -20,
    .filter_offset = 2,
    .output_offset = 9,
    .activation_min = -128,
    .activation_max = 127,
  };
  const dmo_quant_per_tensor quant = { 1431655765, -9 };
  fill_s8(input, COUNT(input), 1);
  fill_s8(filter, COUNT(filter), 2);
  fill_bias(bias, COUNT(bias), 3);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("filter", DMO_CONSTANT, DMO_INT8, filter, sizeof filter),
    DMO_BUFFER("bias", DMO_CONSTANT, DMO_INT32, bias, sizeof bias),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("fully_connected_s8", "fully_connected", buffers, COUNT(buffers));
  dmo_fully_connected_s8(&params, &quant, BATCHES, INPUTS, OUTPUTS, input, filter, bias, output);
  dmo_layer_end();

  for (int32_t i = 0; i < BATCHES * OUTPUTS; ++i) {
    const int32_t expected = oracle_fully_connected_s8(&params, &quant, INPUTS, OUTPUTS, input, filter, bias, i);
    if (output[i] != expected) {
      return wrong_s32("fully_connected_s8", i, expected, output[i]);
    }
  }
  return 0;
}

static int in_float(void) {
  enum { BATCHES = 1, INPUTS = 64, OUTPUTS = 96 };
  static float input[BATCHES * INPUTS], output[BATCHES * OUTPUTS], filter[OUTPUTS * INPUTS], bias[OUTPUTS];
  const dmo_fully_connected_f32_params params = { .activation_min = -60.0f, .activation_max = 60.0f };
  fill_f32(input, COUNT(input), 1);
  fill_f32(filter, COUNT(filter), 2);
  fill_f32(bias, COUNT(bias), 3);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_FLOAT32, input, sizeof input),
    DMO_BUFFER("filter", DMO_CONSTANT, DMO_FLOAT32, filter, sizeof filter),
    DMO_BUFFER("bias", DMO_CONSTANT, DMO_FLOAT32, bias, sizeof bias),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output, sizeof output),
  };
  dmo_layer_begin("fully_connected_f32", "fully_connected", buffers, COUNT(buffers));
  dmo_fully_connected_f32(&params, BATCHES, INPUTS, OUTPUTS, input, filter, bias, output);
  dmo_layer_end();

  for (int32_t i = 0; i < BATCHES * OUTPUTS; ++i) {
    const float expected = oracle_fully_connected_f32(&params, INPUTS, OUTPUTS, input, filter, bias, i);
    if (output[i] != expected) {
      return wrong_f32("fully_connected_f32", i, expected, output[i]);
    }
  }
  return 0;
}

int main(void) {
  return in_8_bit() || in_float();
}
