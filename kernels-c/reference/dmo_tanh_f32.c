// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

#include <math.h>

void dmo_tanh_f32(int32_t count, const float *input, float *output) {
  for (int32_t i = 0; i < count; ++i) {
    output[i] = tanhf(input[i]);
  }
}
