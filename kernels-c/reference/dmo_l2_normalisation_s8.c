// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_along_axis.h"
#include "dmo_inverse_sqrt.h"

enum { OUTPUT_BITS = 7 };

void dmo_l2_normalisation_s8(int32_t input_offset, int32_t rows, int32_t depth, const int8_t *input, int8_t *output) {
  for (int32_t r = 0; r < rows; ++r) {
    const int8_t *in = &input[r * depth];
    int32_t squares = 0;
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t value = in[i] + input_offset;
      squares += value * value;
    }
    const dmo_quant_per_tensor root = dmo_inverse_sqrt(squares);
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t scaled = dmo_requantize(in[i] + input_offset, root.multiplier, root.shift + OUTPUT_BITS);
      output[r * depth + i] = (int8_t)dmo_clamp(scaled, INT8_MIN, INT8_MAX);
    }
  }
}
