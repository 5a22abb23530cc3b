// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_fixed_point.h"
#include "dmo_unary.h"

// 1 / (1 + exp(-x)): x Q4.27, result Q0.31.
static int32_t logistic(int32_t x) {
  if (x == 0) {
    return INT32_C(1) << 30;
  }
  const int32_t exponential = dmo_exp_of_negative(x < 0 ? x : -x, 4);
  const int32_t of_magnitude = dmo_saturating_shift_left(dmo_two_over_one_plus(exponential), 1);
  return x < 0 ? INT32_MAX - of_magnitude : of_magnitude;
}

void dmo_logistic_s8(const dmo_sigmoid_params *params, int32_t count, const int8_t *input, int8_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = input[i] + params->input_offset;
    if (value <= -params->input_radius) {
      output[i] = INT8_MIN;
    } else if (value >= params->input_radius) {
      output[i] = INT8_MAX;
    } else {
      const int32_t x = dmo_requantize(value, params->input.multiplier, params->input.shift);
      const int32_t result = dmo_divide_by_power_of_two(logistic(x), 23) + INT8_MIN;
      output[i] = (int8_t)dmo_clamp(result, INT8_MIN, INT8_MAX);
    }
  }
}
