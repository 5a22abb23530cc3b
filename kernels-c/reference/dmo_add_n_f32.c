// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_elementwise.h"

void dmo_add_n_f32(int32_t input_count, int32_t count, const float *const *inputs, float *output) {
  for (int32_t i = 0; i < count; ++i) {
    float sum = 0.0f;
    for (int32_t j = 0; j < input_count; ++j) {
      sum += inputs[j][i];
    }
    output[i] = sum;
  }
}
