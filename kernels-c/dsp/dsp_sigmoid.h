// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The logistic function and the hyperbolic tangent by the table of the first, bit-exact with dmo_sigmoid_table.h; with
// the DSP extension without a branch. Every entry of the table is at least 2^15, so that as a signed number it is 2^16
// less than it should be.
#ifndef DSP_SIGMOID_H
#define DSP_SIGMOID_H

#include "dmo_lstm.h"
#include "dsp.h"

// The last entry is there twice.
extern const uint16_t dsp_sigmoid_table[DMO_SIGMOID_TABLE_SIZE + 1];

#if DSP_INSTRUCTIONS

// What the table has above 2^16, a negative number, between an entry and the next, of whose distance the fraction has
// `bits` bits; times 2^bits.
DSP_INLINE int32_t dsp_above_one(int32_t entry, int32_t fraction, int32_t bits) {
  uint32_t pair;
  memcpy(&pair, &dsp_sigmoid_table[entry], sizeof pair);
  return dsp_multiply_pairs(pair, (uint32_t)((1 << bits) - fraction) | (uint32_t)fraction << 16, 0);
}

// x in steps of 1 / 12288, less than 255 * 512 in magnitude; the result is in Q0.15. For a negative x it is 1 minus the
// result for its magnitude, and halves round down there.
DSP_INLINE int32_t dsp_sigmoid(int32_t x) {
  const int32_t sign = x >> 31, magnitude = (x ^ sign) - sign;
  const int32_t above_one = dsp_above_one(magnitude >> 9, magnitude & 511, 9);
  return (((above_one ^ sign) + 512) >> 10) + (~sign & (1 << 15));
}

// x in steps of 1 / 12288, but not -2^31: 2 sigmoid(2 x) - 1 in Q0.15.
DSP_INLINE int32_t dsp_tanh(int32_t x) {
  const int32_t sign = x >> 31, magnitude = (x ^ sign) - sign;
  const int32_t last = DMO_SIGMOID_TABLE_SIZE - 1, whole = magnitude >> 8;
  const int32_t above_half = dsp_above_one(whole < last ? whole : last, magnitude & 255, 8) + (1 << 23);
  return ((above_half ^ sign) + 128) >> 8;
}

#else

// As above. Other cores have few registers for constants, and branches cost them little.
DSP_INLINE int32_t dsp_interpolate(int32_t entry, int32_t fraction, int32_t bits) {
  const uint16_t *const entries = &dsp_sigmoid_table[entry];
  const int32_t first = entries[0];
  return first * (1 << bits) + fraction * (entries[1] - first);
}

DSP_INLINE int32_t dsp_sigmoid(int32_t x) {
  const int32_t magnitude = x < 0 ? -x : x;
  const int32_t sum = dsp_interpolate(magnitude >> 9, magnitude & 511, 9);
  return (x < 0 ? (1 << 25) + 511 - sum : sum + 512) >> 10;
}

DSP_INLINE int32_t dsp_tanh(int32_t x) {
  const int32_t magnitude = x < 0 ? -x : x, whole = magnitude >> 8;
  if (whole >= DMO_SIGMOID_TABLE_SIZE - 1) {
    return x < 0 ? -INT16_MAX : INT16_MAX;
  }
  const int32_t sum = dsp_interpolate(whole, magnitude & 255, 8);
  return (x < 0 ? (1 << 23) + 127 - sum : sum + 128 - (1 << 23)) >> 8;
}

#endif

// By how much an argument is scaled to become steps of 1 / 12288, for units of 2^(left_shift - 12).
typedef struct {
  int32_t factor, half, right;
} dsp_steps;

DSP_INLINE dsp_steps dsp_make_steps(int32_t left_shift) {
  return (dsp_steps){ left_shift < 0 ? 3 : 3 << left_shift, left_shift < 0 ? 1 << (-left_shift - 1) : 0,
                      left_shift < 0 ? -left_shift : 0 };
}

DSP_INLINE int32_t dsp_in_steps(const dsp_steps *steps, int32_t x) {
  return (x * steps->factor + steps->half) >> steps->right;
}

#endif
