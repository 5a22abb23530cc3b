// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_matmul.h"

#include <stddef.h>

void dmo_fully_connected_f32(const dmo_fully_connected_f32_params *params,
                             int32_t batches, int32_t inputs, int32_t outputs,
                             const float *input, const float *filter, const float *bias, float *output) {
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t o = 0; o < outputs; ++o) {
      float sum = 0.0f;
      for (int32_t i = 0; i < inputs; ++i) {
        sum += input[b * inputs + i] * filter[o * inputs + i];
      }
      if (bias != NULL) {
        sum += bias[o];
      }
      output[b * outputs + o] = dmo_clamp_f32(sum, params->activation_min, params->activation_max);
    }
  }
}
