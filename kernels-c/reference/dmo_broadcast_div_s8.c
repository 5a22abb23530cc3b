// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"
#include "dmo_logarithm.h"

static int8_t quotient(const dmo_div_params *params, int32_t dividend, int32_t divisor) {
  const int32_t sign = divisor < 0 ? -1 : 1;
  const int32_t numerator = dividend * sign, denominator = divisor == 0 ? 1 : divisor * sign;
  // The denominator is 2^bits * (1 + fraction).
  const int32_t zeros = dmo_leading_zeros(denominator), bits = 31 - zeros;
  const int32_t fraction = (int32_t)(((uint32_t)denominator << zeros) - (UINT32_C(1) << 31));
  const int32_t reciprocal = dmo_saturating_shift_left(dmo_two_over_one_plus(fraction), 1);
  // As far up as the numerator goes.
  const int32_t headroom = numerator == 0 ? 0 : dmo_leading_zeros(numerator < 0 ? -numerator : numerator) - 1;
  const int32_t unscaled = dmo_multiply_high(numerator * (INT32_C(1) << headroom), reciprocal);
  const int32_t right = headroom + bits - params->output.shift;
  const int32_t product = dmo_multiply_high(unscaled, params->output.multiplier);
  // 0 has any headroom.
  const int32_t scaled = numerator == 0 ? 0 : dmo_divide_by_power_of_two(product, right);
  return (int8_t)dmo_clamp(scaled + params->output_offset, params->activation_min, params->activation_max);
}

void dmo_broadcast_div_s8(const dmo_div_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                          const dmo_shape *input2_shape, const int8_t *input2,
                          const dmo_shape *output_shape, int8_t *output) {
  DMO_BROADCAST(int32_t, int32_t, quotient(params, a + params->input1_offset, b + params->input2_offset));
}
