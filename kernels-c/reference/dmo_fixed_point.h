// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fixed-point functions of the 8-bit logistic function and tanh. Qm.n: a signed 32-bit number with m integer and n
// fractional bits. Products and sums round like dmo_multiply_high and dmo_divide_by_power_of_two, and every constant is
// the real number rounded to nearest.
#ifndef DMO_FIXED_POINT_H
#define DMO_FIXED_POINT_H

#include "dmo_quantize.h"

static inline int32_t dmo_saturating_shift_left(int32_t value, int32_t shift) {
  const int64_t shifted = (int64_t)value * (INT64_C(1) << shift);
  return shifted > INT32_MAX ? INT32_MAX : shifted < INT32_MIN ? INT32_MIN : (int32_t)shifted;
}

// exp(x) for x in [-1/4, 0), both Q0.31: the Taylor polynomial of degree 4 around -1/8.
static inline int32_t dmo_exp_near_zero(int32_t x) {
  const int32_t exp_of_minus_one_eighth = 1895147668;
  const int32_t one_third = 715827883;
  const int32_t t = x + (INT32_C(1) << 28);
  const int32_t t2 = dmo_multiply_high(t, t);
  const int32_t t3 = dmo_multiply_high(t2, t);
  const int32_t t4 = dmo_multiply_high(t2, t2);
  const int32_t cubic_and_up = dmo_multiply_high(dmo_divide_by_power_of_two(t4, 2) + t3, one_third);
  const int32_t quadratic_and_up = dmo_divide_by_power_of_two(cubic_and_up + t2, 1);
  return exp_of_minus_one_eighth + dmo_multiply_high(exp_of_minus_one_eighth, t + quadratic_and_up);
}

// exp(x) for x <= 0: x has 3 to 5 integer bits, the result is Q0.31. x is a remainder in [-1/4, 0) minus a sum of
// powers of two from 1/4 up, so the result is a product of exponentials.
static inline int32_t dmo_exp_of_negative(int32_t x, int32_t integer_bits) {
  static const int32_t exp_of_minus_power_of_two[] = { 1672461947, 1302514674, 790015084, 290630308,
                                                       39332535,   720401,     242 };
  const int32_t quarter_bit = 31 - integer_bits - 2;
  const int32_t quarter = INT32_C(1) << quarter_bit;
  if (x == 0) {
    return INT32_MAX;
  }
  const int32_t remainder = (x & (quarter - 1)) - quarter;
  const int32_t powers = remainder - x;
  int32_t result = dmo_exp_near_zero(dmo_saturating_shift_left(remainder, integer_bits));
  for (int32_t i = 0; i < integer_bits + 2; ++i) {
    if ((powers >> (quarter_bit + i) & 1) != 0) {
      result = dmo_multiply_high(result, exp_of_minus_power_of_two[i]);
    }
  }
  return result;
}

// 2 / (1 + x) in Q2.29 for x in [0, 1] in Q0.31: three Newton steps for the reciprocal of d = (1 + x) / 2.
static inline int32_t dmo_two_over_one_plus(int32_t x) {
  const int32_t forty_eight_seventeenths = 1515870810;
  const int32_t minus_thirty_two_seventeenths = -1010580540;
  const int32_t one = INT32_C(1) << 29;
  const int32_t d = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  int32_t reciprocal = forty_eight_seventeenths + dmo_multiply_high(d, minus_thirty_two_seventeenths);
  for (int32_t i = 0; i < 3; ++i) {
    const int32_t error = one - dmo_multiply_high(d, reciprocal);
    reciprocal += dmo_saturating_shift_left(dmo_multiply_high(reciprocal, error), 2);
  }
  return reciprocal;
}

#endif
