// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reciprocal of a square root in fixed point.
#ifndef DMO_INVERSE_SQRT_H
#define DMO_INVERSE_SQRT_H

#include "dmo_fixed_point.h"

// 1 / sqrt(x) as a ratio; x is at least 0, and 0 counts as 1. With x = y * 4^k, y in [1/4, 1): k decides the shift, and
// five steps of Newton's method from 1 give 1 / sqrt(2 y) with 3 integer bits.
static inline dmo_quant_per_tensor dmo_inverse_sqrt(int32_t x) {
  const int32_t three_halves = 3 << 27, sqrt_of_half = 1518500250;
  int32_t shift = -11, root = INT32_C(1) << 28;
  if (x <= 1) {
    return (dmo_quant_per_tensor){ INT32_MAX, 0 };
  }
  for (; x >= INT32_C(1) << 29; x /= 4) {
    --shift;
  }
  for (; x < INT32_C(1) << 27; x *= 4) {
    ++shift;
  }
  const int32_t half = dmo_divide_by_power_of_two(x >> 1, 1);
  for (int32_t i = 0; i < 5; ++i) {
    const int32_t cube = dmo_multiply_high(dmo_multiply_high(root, root), root);
    const int32_t product = dmo_multiply_high(half, dmo_saturating_shift_left(cube, 6));
    root = dmo_saturating_shift_left(dmo_multiply_high(three_halves, root) - product, 3);
  }
  const int32_t multiplier = dmo_multiply_high(root, sqrt_of_half);
  return shift > 0 ? (dmo_quant_per_tensor){ multiplier << shift, 0 } : (dmo_quant_per_tensor){ multiplier, shift };
}

#endif
