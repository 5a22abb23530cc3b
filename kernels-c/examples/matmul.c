// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Matrix products that accumulate in their output: no overlap of output and input is safe.
#include "oracle.h"
#include "dmo_matmul.h"
#include "dmo_trace.h"
#include "example.h"

static int in_8_bit(void) {
  enum { ROWS = 16, INNER = 32, COLUMNS = 24 };
  static int8_t a[ROWS * INNER], b[INNER * COLUMNS];
  static int32_t c[ROWS * COLUMNS];
  const dmo_matmul_size size = { ROWS, INNER, COLUMNS };
  fill_s8(a, COUNT(a), 1);
  fill_s8(b, COUNT(b), 2);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("a", DMO_INPUT, DMO_INT8, a, sizeof a),
    DMO_BUFFER("b", DMO_INPUT, DMO_INT8, b, sizeof b),
    DMO_BUFFER("c", DMO_OUTPUT, DMO_INT32, c, sizeof c),
  };
  dmo_layer_begin("matmul_s8", "matmul", buffers, COUNT(buffers));
  dmo_matmul_s8(&size, a, b, c);
  dmo_layer_end();

  for (int32_t i = 0; i < ROWS * COLUMNS; ++i) {
    const int32_t expected = oracle_matmul_s8(&size, a, b, i);
    if (c[i] != expected) {
      return wrong_s32("matmul_s8", i, expected, c[i]);
    }
  }
  return 0;
}

static int in_float(void) {
  enum { ROWS = 12, INNER = 16, COLUMNS = 20 };
  static float a[ROWS * INNER], b[INNER * COLUMNS], c[ROWS * COLUMNS];
  const dmo_matmul_size size = { ROWS, INNER, COLUMNS };
  fill_f32(a, COUNT(a), 1);
  fill_f32(b, COUNT(b), 2);

  const dmo_buffer buffers[] = {
    DMO_BUFFER("a", DMO_INPUT, DMO_FLOAT32, a, sizeof a),
    DMO_BUFFER("b", DMO_INPUT, DMO_FLOAT32, b, sizeof b),
    DMO_BUFFER("c", DMO_OUTPUT, DMO_FLOAT32, c, sizeof c),
  };
  dmo_layer_begin("matmul_f32", "matmul", buffers, COUNT(buffers));
  dmo_matmul_f32(&size, a, b, c);
  dmo_layer_end();

  for (int32_t i = 0; i < ROWS * COLUMNS; ++i) {
    const float expected = oracle_matmul_f32(&size, a, b, i);
    if (c[i] != expected) {
      return wrong_f32("matmul_f32", i, expected, c[i]);
    }
  }
  return 0;
}

int main(void) {
  return in_8_bit() || in_float();
}
