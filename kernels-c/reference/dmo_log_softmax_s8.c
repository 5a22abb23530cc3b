// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_along_axis.h"
#include "dmo_logarithm.h"
#include "dmo_softmax_row.h"

enum { FRACTION_BITS = 26, OUTPUT_FRACTION_BITS = 4 };

static int8_t logarithm(const dmo_softmax_params *params, int32_t difference, int32_t log_sum) {
  const int32_t scaled = dmo_requantize(difference, params->input_beta.multiplier, params->input_beta.shift);
  const int32_t steps = dmo_divide_by_power_of_two(scaled - log_sum, FRACTION_BITS - OUTPUT_FRACTION_BITS);
  return (int8_t)dmo_clamp(steps + INT8_MAX, INT8_MIN, INT8_MAX);
}

void dmo_log_softmax_s8(const dmo_log_softmax_params *params, int32_t rows, int32_t depth, const int8_t *input,
                        int8_t *output) {
  const dmo_softmax_params *softmax = &params->softmax;
  for (int32_t r = 0; r < rows; ++r) {
    const int8_t *in = &input[r * depth];
    int32_t max = INT8_MIN, sum = 0;
    for (int32_t i = 0; i < depth; ++i) {
      max = in[i] > max ? in[i] : max;
    }
    for (int32_t i = 0; i < depth; ++i) {
      sum += dmo_softmax_summand(softmax, in[i] - max);
    }
    const int32_t log_sum = dmo_log_q12(sum);
    // Below, the difference would not fit.
    const int32_t least = dmo_requantize(log_sum + INT32_MIN, params->inverse.multiplier, params->inverse.shift);
    const int32_t limit = least > softmax->diff_min - 1 ? least : softmax->diff_min - 1;
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t difference = in[i] - max;
      output[r * depth + i] = difference > limit ? logarithm(softmax, difference, log_sum) : INT8_MIN;
    }
  }
}
