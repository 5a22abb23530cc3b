// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_along_axis.h"

#include <float.h>
#include <math.h>

void dmo_log_softmax_f32(int32_t rows, int32_t depth, const float *input, float *output) {
  for (int32_t r = 0; r < rows; ++r) {
    const float *in = &input[r * depth];
    float max = -FLT_MAX, sum = 0.0f;
    for (int32_t i = 0; i < depth; ++i) {
      max = in[i] > max ? in[i] : max;
    }
    for (int32_t i = 0; i < depth; ++i) {
      sum += expf(in[i] - max);
    }
    const float log_sum = logf(sum);
    for (int32_t i = 0; i < depth; ++i) {
      output[r * depth + i] = in[i] - max - log_sum;
    }
  }
}
