// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_softmax.h"

#include <float.h>
#include <math.h>

static float row_max(int32_t depth, const float *row) {
  float max = -FLT_MAX;
  for (int32_t i = 0; i < depth; ++i) {
    max = row[i] > max ? row[i] : max;
  }
  return max;
}

void dmo_softmax_f32(float beta, int32_t rows, int32_t depth, const float *input, float *output) {
  for (int32_t r = 0; r < rows; ++r) {
    const float *in = &input[r * depth];
    float *out = &output[r * depth];
    const float max = row_max(depth, in);
    float sum = 0.0f;
    for (int32_t i = 0; i < depth; ++i) {
      const float exponential = expf((in[i] - max) * beta);
      out[i] = exponential;
      sum += exponential;
    }
    for (int32_t i = 0; i < depth; ++i) {
      out[i] = out[i] / sum;
    }
  }
}
