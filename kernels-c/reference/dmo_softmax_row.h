// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the integer softmaxes share: everything but the types they load and store, and loads of 8 bits.
#ifndef DMO_SOFTMAX_ROW_H
#define DMO_SOFTMAX_ROW_H

#include "dmo_fixed_point.h"
#include "dmo_softmax.h"

// exp(beta * scale * difference) in Q0.31; difference is at least diff_min.
static inline int32_t dmo_softmax_exponential(const dmo_softmax_params *params, int32_t difference) {
  const int32_t scaled = dmo_requantize(difference, params->input_beta.multiplier, params->input_beta.shift);
  return dmo_exp_of_negative(scaled, 5);
}

// Its part of the row's sum, in Q12.19; 0 for what lies too far below the maximum.
static inline int32_t dmo_softmax_summand(const dmo_softmax_params *params, int32_t difference) {
  if (difference < params->diff_min) {
    return 0;
  }
  return dmo_divide_by_power_of_two(dmo_softmax_exponential(params, difference), 12);
}

static inline int32_t dmo_softmax_max_s8(int32_t depth, const int8_t *row) {
  int32_t max = INT8_MIN;
  for (int32_t i = 0; i < depth; ++i) {
    max = row[i] > max ? row[i] : max;
  }
  return max;
}

// Q12.19.
static inline int32_t dmo_softmax_sum_s8(const dmo_softmax_params *params, int32_t max, int32_t depth,
                                         const int8_t *row) {
  int32_t sum = 0;
  for (int32_t i = 0; i < depth; ++i) {
    sum += dmo_softmax_summand(params, row[i] - max);
  }
  return sum;
}

// A row's sum is 2^exponent * (1 + fraction); the reciprocal is 1 / (1 + fraction) in Q0.31.
typedef struct {
  int32_t exponent, reciprocal;
} dmo_softmax_divisor;

// sum is Q12.19 and not 0.
static inline dmo_softmax_divisor dmo_softmax_divisor_of(int32_t sum) {
  uint32_t normalised = (uint32_t)sum;
  int32_t exponent = 12;
  while (normalised < UINT32_C(1) << 31) {
    normalised <<= 1;
    --exponent;
  }
  const int32_t fraction = (int32_t)(normalised - (UINT32_C(1) << 31));
  return (dmo_softmax_divisor){ exponent, dmo_saturating_shift_left(dmo_two_over_one_plus(fraction), 1) };
}

// The ratio of an element's exponential and the sum, in steps of 2^-bits; bits is at least 8.
static inline int32_t dmo_softmax_ratio(const dmo_softmax_params *params, int32_t difference,
                                        const dmo_softmax_divisor *divisor, int32_t bits) {
  const int32_t shift = divisor->exponent + 31 - bits;
  // Beyond 31 the ratio is less than half a step.
  if (difference < params->diff_min || shift > 31) {
    return 0;
  }
  const int32_t product = dmo_multiply_high(divisor->reciprocal, dmo_softmax_exponential(params, difference));
  return dmo_divide_by_power_of_two(product, shift);
}

#endif
