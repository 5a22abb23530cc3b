// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

void dmo_leaky_relu_f32(float alpha, int32_t count, const float *input, float *output) {
  for (int32_t i = 0; i < count; ++i) {
    const float x = input[i];
    output[i] = x > 0.0f ? x : x * alpha;
  }
}
