// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

#include <math.h>

// Beyond these arguments single precision gives 1, or the exponential itself.
static const float upper = 16.619047f;
static const float lower = -9.0f;

void dmo_logistic_f32(int32_t count, const float *input, float *output) {
  for (int32_t i = 0; i < count; ++i) {
    const float x = input[i];
    if (x > upper) {
      output[i] = 1.0f;
    } else if (x < lower) {
      output[i] = expf(x);
    } else {
      output[i] = 1.0f / (1.0f + expf(-x));
    }
  }
}
