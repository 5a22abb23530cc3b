// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_elementwise.h"

void dmo_relu6_f32(int32_t count, const float *input, float *output) {
  for (int32_t i = 0; i < count; ++i) {
    output[i] = dmo_clamp_f32(input[i], 0.0f, 6.0f);
  }
}
