// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The natural logarithm in fixed point.
#ifndef DMO_LOGARITHM_H
#define DMO_LOGARITHM_H

#include "dmo_fixed_point.h"

static inline int32_t dmo_leading_zeros(int32_t positive) {
  int32_t zeros = 1;
  for (; positive < INT32_C(1) << 30; positive <<= 1) {
    ++zeros;
  }
  return zeros;
}

// ln((1 + y) / (1 - y)) as a quotient of polynomials around the middle m = 2^(-1/4) of an octave: ln(r / m) with r in
// [1/sqrt(2), 1) near it, in Q6.25.
static inline int32_t dmo_log_near_middle(int32_t r) {
  const int32_t middle = 1805811301;   // 2^(-1/4)
  const int32_t cubic = 117049297;     // 11/240 * 2^(1/4)
  const int32_t constant = 1057819769; // 2^(3/4) - 2^(1/4)
  const int32_t linear = 638450708;    // 1/4 * 2^(1/4)
  const int32_t quadratic = 127690142; // 1/20 * 2^(1/4)
  const int64_t both = (int64_t)r + middle;
  const int32_t mean = (int32_t)((both + (both >= 0 ? 1 : -1)) / 2);
  const int32_t q = 2 * (r - middle);
  const int32_t square = dmo_multiply_high(q, q);
  const int32_t numerator =
      dmo_multiply_high(q, r) + dmo_multiply_high(dmo_multiply_high(q, square), cubic);
  const int32_t denominator = dmo_multiply_high(mean, constant + q + dmo_multiply_high(quadratic, square)) +
                              dmo_multiply_high(linear, q);
  const int32_t reciprocal = dmo_saturating_shift_left(dmo_two_over_one_plus(denominator), 1);
  return dmo_multiply_high(dmo_divide_by_power_of_two(numerator, 6), reciprocal);
}

// ln(x) in Q5.26 for x of at least 1 in Q12.19. x is r * 2^e, where e is a multiple of 1/2 less 1/4: of both r that there
// are, the one nearer to the middle of the octave.
static inline int32_t dmo_log_q12(int32_t x) {
  const int32_t sqrt_of_half = 1518500250, log_of_2 = 1488522236;
  const int32_t integer_bits = 12, one = INT32_C(1) << 25, quarter = one / 4;
  const int32_t zeros = dmo_leading_zeros(x);
  const int32_t normalised = dmo_saturating_shift_left(x, zeros - 1);
  const int32_t r_of_halves = dmo_saturating_shift_left(dmo_multiply_high(normalised, sqrt_of_half), 1);
  const int32_t headroom = dmo_leading_zeros(dmo_multiply_high(x, sqrt_of_half)) - 1;
  const int32_t r_of_wholes = dmo_saturating_shift_left(x, headroom);
  const int32_t halves = (integer_bits - zeros) * one + quarter;
  const int32_t wholes = (integer_bits - headroom) * one - quarter;
  const int32_t r = r_of_halves < r_of_wholes ? r_of_halves : r_of_wholes;
  const int32_t power = halves > wholes ? halves : wholes;
  return dmo_saturating_shift_left(dmo_multiply_high(power, log_of_2) + dmo_log_near_middle(r), 1);
}

#endif
