// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the kernels of this folder share: which instructions the core has, and requantisation.
//
// The kernels are for cores without the DSP extension. Where a piece is written by hand, the same stands beside it in
// C, which is what other cores and the native tests take.
#ifndef PLAIN_H
#define PLAIN_H

#include "dmo_quantize.h"

#include <stdbool.h>
#include <stddef.h>

#define PLAIN_INLINE static inline __attribute__((always_inline))
#define PLAIN_OUT_OF_LINE __attribute__((noinline))

// 2: Armv7-M and later, all of Thumb. 1: Armv6-M and Armv8-M Baseline, 16-bit instructions and no long multiplication.
#if defined(__thumb2__)
#define PLAIN_THUMB 2
#elif defined(__thumb__)
#define PLAIN_THUMB 1
#else
#define PLAIN_THUMB 0
#endif

// For a function that is all assembly. Its arguments are used, though the compiler cannot see it.
#define PLAIN_UNUSED __attribute__((unused))
#if defined(__clang__)
#define PLAIN_NAKED __attribute__((naked, noinline))
#else
#define PLAIN_NAKED __attribute__((naked, noipa))
#endif

// Sums of at most this are requantised the fast way.
enum { PLAIN_LARGEST_SUM = INT32_MAX - (1 << 18) };

// a * b / 2^31, rounded to nearest, halves up, as dmo_multiply_high: |a| <= PLAIN_LARGEST_SUM and b >= 0.
PLAIN_INLINE int32_t plain_multiply_high(int32_t a, int32_t b) {
#if PLAIN_THUMB == 2
  return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
#else
  // By halves, of which the lower have a sign. No sum overflows: |a_low|, |b_low| and b_high are at most 2^15, and
  // |a_high| is at most 2^15 - 4.
  const int32_t a_low = (int16_t)(a & 0xffff), a_high = (a - a_low) >> 16;
  const int32_t b_low = (int16_t)(b & 0xffff), b_high = (int32_t)(((uint32_t)b - (uint32_t)b_low) >> 16);
  const int32_t middle = a_low * b_high + a_high * b_low + ((a_low * b_low) >> 16);
  return 2 * (a_high * b_high) + ((middle + (1 << 14)) >> 15);
#endif
}

// Whether plain_requantize takes a channel.
PLAIN_INLINE bool plain_is_fast(int32_t multiplier, int32_t shift) {
  return multiplier >= 0 && shift <= 0 && shift >= -31;
}

PLAIN_INLINE bool plain_is_small(int32_t sum) {
  return sum >= -PLAIN_LARGEST_SUM && sum <= PLAIN_LARGEST_SUM;
}

// As dmo_requantize, for a small sum and a channel that it takes. A half of a negative number is rounded down by taking
// 1 away first.
PLAIN_INLINE int32_t plain_requantize(int32_t sum, int32_t multiplier, int32_t shift) {
  const int32_t product = plain_multiply_high(sum, multiplier);
  return shift == 0 ? product : (((product + (product >> 31)) >> ~shift) + 1) >> 1;
}

// The same in the C form of assembly, which computes what channels that it does not take get, too: anything.
PLAIN_INLINE int32_t plain_requantize_taken(int32_t sum, int32_t multiplier, int32_t shift) {
  return plain_is_fast(multiplier, shift) && plain_is_small(sum) ? plain_requantize(sum, multiplier, shift) : 0;
}

// Channels that plain_requantize does not take, if they are so few that the others are computed by hand.
enum { PLAIN_MOST_EXACT = 8 };

// How the sums of a layer become outputs.
typedef struct {
  int32_t offset, min, max;         // of the output
  const int32_t *multiplier, *shift;
  int32_t step;                     // from one channel's multiplier to the next: 1, or 0 if they share one
  bool is_fast;                     // plain_requantize takes all channels but `exact`, and every sum of theirs is small
  int32_t exact_count, exact[PLAIN_MOST_EXACT]; // the count is 0 unless is_fast
} plain_output;

// bias: NULL for none. A sum is a bias and `products` products of numbers in [-255, 255] and in [-128, 127].
plain_output plain_make_output(int32_t offset, int32_t min, int32_t max, int32_t channels, const int32_t *multiplier,
                               const int32_t *shift, int32_t step, const int32_t *bias, int32_t products);

// Out of line, because it is long, and rare.
int32_t plain_requantize_any(int32_t sum, int32_t multiplier, int32_t shift);

// The output of any channel for any sum.
PLAIN_INLINE int8_t plain_finish(const plain_output *output, int32_t multiplier, int32_t shift, int32_t sum) {
  const int32_t value = plain_is_fast(multiplier, shift) && plain_is_small(sum)
                            ? plain_requantize(sum, multiplier, shift)
                            : plain_requantize_any(sum, multiplier, shift);
  return (int8_t)dmo_clamp(value + output->offset, output->min, output->max);
}

#endif
