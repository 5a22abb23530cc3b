// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_elementwise.h"

void dmo_relu_f32(int32_t count, const float *input, float *output) {
  for (int32_t i = 0; i < count; ++i) {
    const float value = input[i];
    output[i] = value < 0.0f ? 0.0f : value;
  }
}
