// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_fixed_point.h"
#include "dmo_unary.h"

// x Q4.27, result Q0.31. With e = exp(-2 |x|) it is (1 - e) / (1 + e) = 2 / (1 + e) - 1, with the sign of x.
static int32_t hyperbolic_tangent(int32_t x) {
  if (x == 0) {
    return 0;
  }
  // The same number in Q5.26 is twice as large.
  const int32_t exponential = dmo_exp_of_negative(x < 0 ? x : -x, 5);
  const int32_t of_magnitude = dmo_saturating_shift_left(dmo_two_over_one_plus(exponential) - (INT32_C(1) << 29), 2);
  return x < 0 ? -of_magnitude : of_magnitude;
}

void dmo_tanh_s8(const dmo_sigmoid_params *params, int32_t count, const int8_t *input, int8_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = input[i] + params->input_offset;
    if (value <= -params->input_radius) {
      output[i] = INT8_MIN;
    } else if (value >= params->input_radius) {
      output[i] = INT8_MAX;
    } else {
      const int32_t x = dmo_requantize(value, params->input.multiplier, params->input.shift);
      const int32_t result = dmo_divide_by_power_of_two(hyperbolic_tangent(x), 24);
      output[i] = (int8_t)dmo_clamp(result, INT8_MIN, INT8_MAX);
    }
  }
}
