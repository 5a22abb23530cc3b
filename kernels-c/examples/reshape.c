// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reshape: a copy, 8 bit and float.
#include "dmo_layout.h"
#include "dmo_trace.h"
#include "example.h"

static int in_8_bit(void) {
  enum { ELEMENTS = 7 * 9 * 13 };
  static int8_t input[ELEMENTS], output[ELEMENTS];
  fill_s8(input, ELEMENTS, 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("reshape_s8", "reshape", buffers, COUNT(buffers));
  dmo_reshape_s8(ELEMENTS, input, output);
  dmo_layer_end();

  for (int32_t i = ELEMENTS - 1; i >= 0; --i) {
    if (output[i] != input[i]) {
      return wrong_s32("reshape_s8", i, input[i], output[i]);
    }
  }
  return 0;
}

static int in_float(void) {
  enum { ELEMENTS = 7 * 9 * 8 };
  static float input[ELEMENTS], output[ELEMENTS];
  fill_f32(input, ELEMENTS, 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_FLOAT32, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output, sizeof output),
  };
  dmo_layer_begin("reshape_f32", "reshape", buffers, COUNT(buffers));
  dmo_reshape_f32(ELEMENTS, input, output);
  dmo_layer_end();

  for (int32_t i = ELEMENTS - 1; i >= 0; --i) {
    if (output[i] != input[i]) {
      return wrong_f32("reshape_f32", i, input[i], output[i]);
    }
  }
  return 0;
}

int main(void) {
  return in_8_bit() || in_float();
}
