// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Softmax, 8 bit and float.
#include "oracle.h"
#include "dmo_softmax.h"
#include "dmo_trace.h"
#include "example.h"

enum { ROWS = 8, DEPTH = 40, ELEMENTS = ROWS * DEPTH };

static int in_8_bit(void) {
  static int8_t input[ELEMENTS], output[ELEMENTS];
  // A step of the input is 1/32: 2^26 / 32 = 2^30 / 2^31 * 2^22, and floor(31 * 2^26 / 2^22) = 496.
  const double input_scale = 1.0 / 32.0;
  const dmo_softmax_params params = { .input_beta = { INT32_C(1) << 30, 22 }, .diff_min = -496 };
  fill_s8(input, ELEMENTS, 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("softmax_s8", "softmax", buffers, COUNT(buffers));
  dmo_softmax_s8(&params, ROWS, DEPTH, input, output);
  dmo_layer_end();

  // Fixed point and real arithmetic may round to neighbouring steps.
  for (int32_t i = 0; i < ELEMENTS; ++i) {
    const double exact = oracle_softmax_s8(input_scale, DEPTH, input, i) * 256.0 - 128.0;
    const double error = (double)output[i] - oracle_clamp_f64(exact, -128.0, 127.0);
    if (error < -1.0 || error > 1.0) {
      return wrong_s32("softmax_s8", i, (int32_t)exact, output[i]);
    }
  }
  return 0;
}

static int in_float(void) {
  static float input[ELEMENTS], output[ELEMENTS];
  fill_f32(input, ELEMENTS, 1);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_FLOAT32, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_FLOAT32, output, sizeof output),
  };
  dmo_layer_begin("softmax_f32", "softmax", buffers, COUNT(buffers));
  dmo_softmax_f32(1.0f, ROWS, DEPTH, input, output);
  dmo_layer_end();

  for (int32_t i = 0; i < ELEMENTS; ++i) {
    const double expected = oracle_softmax_f32(1.0, DEPTH, input, i);
    const double error = (double)output[i] - expected;
    if (error < -1e-5 * expected || error > 1e-5 * expected) {
      return wrong_f32("softmax_f32", i, (float)expected, output[i]);
    }
  }
  return 0;
}

int main(void) {
  return in_8_bit() || in_float();
}
