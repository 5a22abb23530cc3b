// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_cumulative_sum_loop.h"

void dmo_cumulative_sum_f32(const dmo_cumulative_sum_params *params, const float *input, float *output) {
  float sum = 0.0f;
  if (params->exclusive != 0) {
    DMO_CUMULATIVE_SUM(sum = 0.0f, { output[at] = sum; sum += input[at]; });
  } else {
    DMO_CUMULATIVE_SUM(sum = 0.0f, { sum += input[at]; output[at] = sum; });
  }
}
