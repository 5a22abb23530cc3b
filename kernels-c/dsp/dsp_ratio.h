// SPDX-License-Identifier: MIT OR Apache-2.0
//
// dmo_requantize of any 32-bit numbers by one ratio, in a few instructions.
#ifndef DSP_RATIO_H
#define DSP_RATIO_H

#include "dsp.h"

// With a multiplier m of at least 2^30, 2 * m - 2^32 is a signed number, and value * m / 2^31, halves up, is value plus
// value times it / 2^32, halves up. For a division by 2^e after that, halves away from zero, 2^(e - 1) is added, and 1
// taken away from a negative value, which changes nothing where the product was rounded to 0.
typedef struct {
  int32_t doubled;     // 2 * m - 2^32
  int32_t half, right; // 2^(e - 1), or 0 if e is 0; e
  int32_t if_negative; // -1, or 0 if e is 0
} dsp_ratio;

// Values are at most 2^30 in magnitude.
DSP_INLINE bool dsp_has_ratio(int32_t multiplier, int32_t shift) {
  return multiplier >= 1 << 30 && shift <= 0 && shift >= -30;
}

DSP_INLINE dsp_ratio dsp_make_ratio(int32_t multiplier, int32_t shift) {
  return (dsp_ratio){ (int32_t)((uint32_t)multiplier * 2u), shift < 0 ? 1 << (-shift - 1) : 0, -shift,
                      shift < 0 ? -1 : 0 };
}

// For a shift of 0.
DSP_INLINE int32_t dsp_multiply_ratio(const dsp_ratio *ratio, int32_t value) {
  return dsp_multiply_top(value, ratio->doubled, value);
}

DSP_INLINE int32_t dsp_apply_ratio(const dsp_ratio *ratio, int32_t value) {
  const int32_t start = value + ratio->half + ((value >> 31) & ratio->if_negative);
  return dsp_multiply_top(value, ratio->doubled, start) >> ratio->right;
}

#endif
