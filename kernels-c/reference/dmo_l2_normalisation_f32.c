// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_along_axis.h"

#include <math.h>

void dmo_l2_normalisation_f32(int32_t rows, int32_t depth, const float *input, float *output) {
  for (int32_t r = 0; r < rows; ++r) {
    const float *in = &input[r * depth];
    float squares = 0.0f;
    for (int32_t i = 0; i < depth; ++i) {
      squares += in[i] * in[i];
    }
    const float root = sqrtf(squares);
    const float divisor = root < 1e-6f ? 1e-6f : root;
    for (int32_t i = 0; i < depth; ++i) {
      output[r * depth + i] = in[i] / divisor;
    }
  }
}
