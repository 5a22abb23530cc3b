// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle.h"

#include <math.h>

// 1 over the sum of exp(other - this) needs no maximum.
double oracle_softmax_s8(double input_scale, int32_t depth, const int8_t *input, int32_t index) {
  const int8_t *row = &input[index / depth * depth];
  double sum = 0.0;
  for (int32_t i = depth - 1; i >= 0; --i) {
    sum += exp(input_scale * (double)(row[i] - input[index]));
  }
  return 1.0 / sum;
}

double oracle_softmax_f32(double beta, int32_t depth, const float *input, int32_t index) {
  const float *row = &input[index / depth * depth];
  double sum = 0.0;
  for (int32_t i = depth - 1; i >= 0; --i) {
    sum += exp(beta * ((double)row[i] - (double)input[index]));
  }
  return 1.0 / sum;
}
