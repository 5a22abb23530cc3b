// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_softmax.h"

// Qm.n below: a signed 32-bit number with m integer and n fractional bits. Products and sums of such numbers round like
// dmo_multiply_high and dmo_divide_by_power_of_two, and every constant is the real number rounded to nearest.

static int32_t saturating_shift_left(int32_t value, int32_t shift) {
  const int64_t shifted = (int64_t)value * (INT64_C(1) << shift);
  return shifted > INT32_MAX ? INT32_MAX : shifted < INT32_MIN ? INT32_MIN : (int32_t)shifted;
}

// exp(x) for x in [-1/4, 0), both Q0.31: the Taylor polynomial of degree 4 around -1/8.
static int32_t exp_near_zero(int32_t x) {
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

// exp(x) for x <= 0: x Q5.26, result Q0.31. x is a remainder in [-1/4, 0) minus a sum of 1/4, 1/2, 1 .. 16, so the
// result is a product of exponentials.
static int32_t exp_of_negative(int32_t x) {
  static const int32_t exp_of_minus_power_of_two[] = { 1672461947, 1302514674, 790015084, 290630308,
                                                       39332535,   720401,     242 };
  const int32_t quarter_bit = 24;
  const int32_t quarter = INT32_C(1) << quarter_bit;
  if (x == 0) {
    return INT32_MAX;
  }
  const int32_t remainder = (x & (quarter - 1)) - quarter;
  const int32_t powers = remainder - x;
  int32_t result = exp_near_zero(saturating_shift_left(remainder, 5));
  for (int32_t i = 0; i < 7; ++i) {
    if ((powers >> (quarter_bit + i) & 1) != 0) {
      result = dmo_multiply_high(result, exp_of_minus_power_of_two[i]);
    }
  }
  return result;
}

// 1 / (1 + x) for x in [0, 1], both Q0.31: three Newton steps for the reciprocal of d = (1 + x) / 2, in Q2.29.
static int32_t one_over_one_plus(int32_t x) {
  const int32_t forty_eight_seventeenths = 1515870810;
  const int32_t minus_thirty_two_seventeenths = -1010580540;
  const int32_t one = INT32_C(1) << 29;
  const int32_t d = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  int32_t reciprocal = forty_eight_seventeenths + dmo_multiply_high(d, minus_thirty_two_seventeenths);
  for (int32_t i = 0; i < 3; ++i) {
    const int32_t error = one - dmo_multiply_high(d, reciprocal);
    reciprocal += saturating_shift_left(dmo_multiply_high(reciprocal, error), 2);
  }
  return saturating_shift_left(reciprocal, 1);
}

static int32_t leading_zeros(uint32_t value) {
  int32_t zeros = 0;
  while (value < UINT32_C(1) << 31) {
    value <<= 1;
    ++zeros;
  }
  return zeros;
}

static int32_t row_max(int32_t depth, const int8_t *row) {
  int32_t max = INT8_MIN;
  for (int32_t i = 0; i < depth; ++i) {
    max = row[i] > max ? row[i] : max;
  }
  return max;
}

// exp(beta * scale * difference) in Q0.31.
static int32_t exp_of_difference(const dmo_softmax_params *params, int32_t difference) {
  return exp_of_negative(dmo_requantize(difference, params->input_beta.multiplier, params->input_beta.shift));
}

// Q12.19.
static int32_t row_sum(const dmo_softmax_params *params, int32_t max, int32_t depth, const int8_t *row) {
  int32_t sum = 0;
  for (int32_t i = 0; i < depth; ++i) {
    const int32_t difference = row[i] - max;
    if (difference >= params->diff_min) {
      sum += dmo_divide_by_power_of_two(exp_of_difference(params, difference), 12);
    }
  }
  return sum;
}

static int8_t quantized_ratio(int32_t exponential, int32_t reciprocal, int32_t shift) {
  const int32_t ratio = dmo_divide_by_power_of_two(dmo_multiply_high(reciprocal, exponential), shift);
  return (int8_t)dmo_clamp(ratio + INT8_MIN, INT8_MIN, INT8_MAX);
}

void dmo_softmax_s8(const dmo_softmax_params *params, int32_t rows, int32_t depth, const int8_t *input,
                    int8_t *output) {
  for (int32_t r = 0; r < rows; ++r) {
    const int8_t *in = &input[r * depth];
    int8_t *out = &output[r * depth];
    const int32_t max = row_max(depth, in);
    // sum = 2^(12 - zeros) * (1 + fraction), fraction in Q0.31.
    const uint32_t sum = (uint32_t)row_sum(params, max, depth, in);
    const int32_t zeros = leading_zeros(sum);
    const int32_t fraction = (int32_t)((sum << zeros) - (UINT32_C(1) << 31));
    const int32_t reciprocal = one_over_one_plus(fraction);
    const int32_t shift = 12 - zeros + 31 - 8;
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t difference = in[i] - max;
      out[i] = difference < params->diff_min
                   ? INT8_MIN
                   : quantized_ratio(exp_of_difference(params, difference), reciprocal, shift);
    }
  }
}
