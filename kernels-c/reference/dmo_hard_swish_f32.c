// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

void dmo_hard_swish_f32(int32_t count, const float *input, float *output) {
  for (int32_t i = 0; i < count; ++i) {
    const float x = input[i];
    output[i] = x * dmo_clamp_f32(x + 3.0f, 0.0f, 6.0f) / 6.0f;
  }
}
