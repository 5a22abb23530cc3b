// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the kernels with 16-bit activations share: access to pairs in memory, and dmo_requantize_wide in three
// instructions for sums that fit in 32 bits.
#ifndef DSP_WIDE_H
#define DSP_WIDE_H

#include "dmo_int16.h"
#include "dsp.h"

#include <stddef.h>

// A product of 16 and 8 bits is at most 2^22, so that this many fit in 32 bits.
enum { DSP_WIDE_PRODUCTS = 511 };

// Two elements, first element low, at any address of an element.
DSP_INLINE uint32_t dsp_load_pair(const int16_t *from) {
  uint32_t pair;
  memcpy(&pair, from, sizeof pair);
  return pair;
}

DSP_INLINE void dsp_store_pair(int16_t *to, uint32_t pair) {
  memcpy(to, &pair, sizeof pair);
}

#if DSP_INSTRUCTIONS

// sum + a.low * b.high
DSP_INLINE int32_t dsp_multiply_low_high(uint32_t a, uint32_t b, int32_t sum) {
  return DSP_RESULT(int32_t, "smlabt %0, %1, %2, %3", "r"(a), "r"(b), "r"(sum));
}

// sum + a * b / 2^32, rounded down.
DSP_INLINE int32_t dsp_multiply_floor(int32_t a, int32_t b, int32_t sum) {
  return DSP_RESULT(int32_t, "smmla %0, %1, %2, %3", "r"(a), "r"(b), "r"(sum));
}

DSP_INLINE int32_t dsp_saturating_add(int32_t a, int32_t b) {
  return DSP_RESULT(int32_t, "qadd %0, %1, %2", "r"(a), "r"(b));
}

// To 16 bits.
DSP_INLINE int32_t dsp_saturate_half(int32_t value) {
  return DSP_RESULT(int32_t, "ssat %0, #16, %1", "r"(value));
}

// The larger, or smaller, of each two elements.
DSP_INLINE uint32_t dsp_max_pair(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("ssub16 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b));
  return result;
}

DSP_INLINE uint32_t dsp_min_pair(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("ssub16 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(result) : "r"(a), "r"(b));
  return result;
}

#else

DSP_INLINE int32_t dsp_multiply_low_high(uint32_t a, uint32_t b, int32_t sum) {
  return sum + dsp_low(a) * dsp_high(b);
}

DSP_INLINE int32_t dsp_multiply_floor(int32_t a, int32_t b, int32_t sum) {
  return sum + (int32_t)(((int64_t)a * b) >> 32);
}

DSP_INLINE int32_t dsp_saturating_add(int32_t a, int32_t b) {
  const int64_t sum = (int64_t)a + b;
  return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

DSP_INLINE int32_t dsp_saturate_half(int32_t value) {
  return dmo_clamp(value, INT16_MIN, INT16_MAX);
}

DSP_INLINE uint32_t dsp_max_pair(uint32_t a, uint32_t b) {
  return dsp_pair(dsp_low(a) > dsp_low(b) ? dsp_low(a) : dsp_low(b),
                  dsp_high(a) > dsp_high(b) ? dsp_high(a) : dsp_high(b));
}

DSP_INLINE uint32_t dsp_min_pair(uint32_t a, uint32_t b) {
  return ~dsp_max_pair(~a, ~b);
}

#endif

// Scales and biases of a layer's channels, from one of them on.
typedef struct {
  const int32_t *multiplier, *shift; // as dmo_requantize_wide takes them
  const int64_t *bias;
  int32_t bias_step; // 1, or 0 without biases
  int32_t min, max;  // of the output
} dsp_scales;

// bias: NULL for none.
DSP_INLINE dsp_scales dsp_make_scales(const int32_t *multiplier, const int32_t *shift, const int64_t *bias,
                                      int32_t min, int32_t max) {
  static const int64_t no_bias = 0;
  return (dsp_scales){ multiplier, shift, bias == NULL ? &no_bias : bias, bias == NULL ? 0 : 1, min, max };
}

DSP_INLINE dsp_scales dsp_scales_from(dsp_scales scales, int32_t channels) {
  scales.multiplier += channels;
  scales.shift += channels;
  scales.bias += channels * scales.bias_step;
  return scales;
}

// dmo_requantize_wide.
int32_t dsp_requantize_wide_exactly(int64_t sum, int32_t multiplier, int32_t shift);

// Whether dsp_requantize_fast takes the scales, of all channels or of the first for all: the shifts are -2 or less, and
// sums of this many products and a bias fit in 32 bits.
bool dsp_are_fast(const dsp_scales *scales, int32_t channels, bool is_one_scale, int32_t products);

// One channel's numbers, of which the sum has 32 bits. With a shift of -2 or less,
//   sum * m / 2^15 * 2^shift, halves up, m being the leading 15 bits of the multiplier,
// is, for e = -1 - shift, (sum * (m * 2^16) / 2^32 + 2^(e - 1)) / 2^e, both quotients rounded down.
typedef struct {
  int32_t leading;     // m * 2^16
  int32_t half, right; // 2^(e - 1), e
} dsp_wide_channel;

// The first of the scales.
DSP_INLINE dsp_wide_channel dsp_make_wide(const dsp_scales *scales) {
  const int32_t right = ~*scales->shift;
  const int32_t rounded = dsp_saturating_add(*scales->multiplier, 1 << 15);
  return (dsp_wide_channel){ (int32_t)((uint32_t)rounded & 0xffff0000u), 1 << (right - 1), right };
}

DSP_INLINE int32_t dsp_requantize_fast(dsp_wide_channel channel, int32_t sum) {
  return dsp_multiply_floor(sum, channel.leading, channel.half) >> channel.right;
}

// The output of the first channel of the scales, for a sum without its bias; the scales then begin with the next.
DSP_INLINE int32_t dsp_next_output(dsp_scales *scales, int64_t sum) {
  const int32_t value = dsp_requantize_wide_exactly(sum + *scales->bias, *scales->multiplier, *scales->shift);
  *scales = dsp_scales_from(*scales, 1);
  return dmo_clamp(value, scales->min, scales->max);
}

// The same for a sum with its bias, and scales that are fast.
DSP_INLINE int32_t dsp_next_output_fast(dsp_scales *scales, int32_t sum) {
  const int32_t value = dsp_requantize_fast(dsp_make_wide(scales), sum);
  *scales = dsp_scales_from(*scales, 1);
  return dmo_clamp(value, scales->min, scales->max);
}

#endif
