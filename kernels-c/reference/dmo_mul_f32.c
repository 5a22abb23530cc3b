// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_elementwise.h"

void dmo_mul_f32(float activation_min, float activation_max, int32_t count, const float *input1, const float *input2,
                 float *output) {
  for (int32_t i = 0; i < count; ++i) {
    output[i] = dmo_clamp_f32(input1[i] * input2[i], activation_min, activation_max);
  }
}
