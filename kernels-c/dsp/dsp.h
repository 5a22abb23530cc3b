// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the kernels of this folder share: the instructions of the DSP extension by name, each with what it does in plain
// C for other CPUs, and requantisation in five of them.
//
// A "pair" is a word that holds two signed 16-bit numbers.
#ifndef DSP_H
#define DSP_H

#include "dmo_quantize.h"

#include <stdbool.h>
#include <string.h>

#define DSP_INLINE static inline __attribute__((always_inline))
// For a function whose loops are to have all registers to themselves.
#define DSP_OUT_OF_LINE __attribute__((noinline))

#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
#define DSP_INSTRUCTIONS 1
#else
#define DSP_INSTRUCTIONS 0
#endif

// For a function that is all assembly. Its arguments are used, though the compiler cannot see it.
#define DSP_UNUSED __attribute__((unused))
#if defined(__clang__)
#define DSP_NAKED __attribute__((naked, noinline))
#else
#define DSP_NAKED __attribute__((naked, noipa))
#endif

// Four bytes, first byte lowest, at any address.
DSP_INLINE uint32_t dsp_load4(const int8_t *from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}

DSP_INLINE void dsp_store4(int8_t *to, uint32_t word) {
  memcpy(to, &word, sizeof word);
}

// `count` bytes, 1 to 4, and zeros.
DSP_INLINE uint32_t dsp_load_some(const int8_t *from, int32_t count) {
  uint32_t word = (uint8_t)from[0];
  for (int32_t i = 1; i < count; ++i) {
    word |= (uint32_t)(uint8_t)from[i] << (8 * i);
  }
  return word;
}

DSP_INLINE void dsp_store_some(int8_t *to, uint32_t word, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    to[i] = (int8_t)(word >> (8 * i));
  }
}

DSP_INLINE uint32_t dsp_pair(int32_t low, int32_t high) {
  return (uint32_t)(uint16_t)low | (uint32_t)(uint16_t)high << 16;
}

DSP_INLINE int32_t dsp_low(uint32_t pair) {
  return (int16_t)(pair & 0xffffu);
}

DSP_INLINE int32_t dsp_high(uint32_t pair) {
  return (int16_t)(pair >> 16);
}

DSP_INLINE uint32_t dsp_pack4(int32_t byte0, int32_t byte1, int32_t byte2, int32_t byte3) {
  return (uint32_t)(uint8_t)byte0 | (uint32_t)(uint8_t)byte1 << 8 | (uint32_t)(uint8_t)byte2 << 16 |
         (uint32_t)(uint8_t)byte3 << 24;
}

#if DSP_INSTRUCTIONS

// What an instruction makes of its operands.
#define DSP_RESULT(type, instruction, ...)                 \
  __extension__({                                          \
    type result;                                           \
    __asm__(instruction : "=r"(result) : __VA_ARGS__);     \
    result;                                                \
  })

// Bytes 0 and 2, sign-extended, added to a pair; bytes 1 and 3.
DSP_INLINE uint32_t dsp_add_even(uint32_t pair, uint32_t bytes) {
  return DSP_RESULT(uint32_t, "sxtab16 %0, %1, %2", "r"(pair), "r"(bytes));
}

DSP_INLINE uint32_t dsp_add_odd(uint32_t pair, uint32_t bytes) {
  return DSP_RESULT(uint32_t, "sxtab16 %0, %1, %2, ror #8", "r"(pair), "r"(bytes));
}

DSP_INLINE uint32_t dsp_even(uint32_t bytes) {
  return DSP_RESULT(uint32_t, "sxtb16 %0, %1", "r"(bytes));
}

DSP_INLINE uint32_t dsp_odd(uint32_t bytes) {
  return DSP_RESULT(uint32_t, "sxtb16 %0, %1, ror #8", "r"(bytes));
}

// The sum of two pairs, element by element.
DSP_INLINE uint32_t dsp_add_pairs(uint32_t a, uint32_t b) {
  return DSP_RESULT(uint32_t, "sadd16 %0, %1, %2", "r"(a), "r"(b));
}

// sum + a.low * b.low + a.high * b.high
DSP_INLINE int32_t dsp_multiply_pairs(uint32_t a, uint32_t b, int32_t sum) {
  return DSP_RESULT(int32_t, "smlad %0, %1, %2, %3", "r"(a), "r"(b), "r"(sum));
}

// sum + a.low * b.low, and so on.
DSP_INLINE int32_t dsp_multiply_low(uint32_t a, uint32_t b, int32_t sum) {
  return DSP_RESULT(int32_t, "smlabb %0, %1, %2, %3", "r"(a), "r"(b), "r"(sum));
}

DSP_INLINE int32_t dsp_multiply_high(uint32_t a, uint32_t b, int32_t sum) {
  return DSP_RESULT(int32_t, "smlatt %0, %1, %2, %3", "r"(a), "r"(b), "r"(sum));
}

DSP_INLINE int32_t dsp_multiply_high_low(uint32_t a, uint32_t b, int32_t sum) {
  return DSP_RESULT(int32_t, "smlatb %0, %1, %2, %3", "r"(a), "r"(b), "r"(sum));
}

// sum + a * b / 2^32, the quotient rounded to nearest, halves up.
DSP_INLINE int32_t dsp_multiply_top(int32_t a, int32_t b, int32_t sum) {
  return DSP_RESULT(int32_t, "smmlar %0, %1, %2, %3", "r"(a), "r"(b), "r"(sum));
}

// Stores two words, one after the other, `offset` words (a constant) behind `to`: two instructions are faster than the
// one that stores both.
#define dsp_store_two(to, offset, word0, word1)                            \
  __asm__ volatile("str %1, [%0, %3]\n\tstr %2, [%0, %4]"                  \
                   :                                                       \
                   : "r"(to), "r"(word0), "r"(word1), "n"(4 * (offset)), "n"(4 * (offset) + 4) \
                   : "memory")

// To [-128, 127]; to [0, 255].
DSP_INLINE int32_t dsp_saturate_signed(int32_t value) {
  return DSP_RESULT(int32_t, "ssat %0, #8, %1", "r"(value));
}

DSP_INLINE int32_t dsp_saturate_unsigned(int32_t value) {
  return DSP_RESULT(int32_t, "usat %0, #8, %1", "r"(value));
}

// The larger, or smaller, of each two signed bytes.
DSP_INLINE uint32_t dsp_max4(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b));
  return result;
}

DSP_INLINE uint32_t dsp_min4(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("ssub8 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(result) : "r"(a), "r"(b));
  return result;
}

// The difference of each two bytes.
DSP_INLINE uint32_t dsp_subtract4(uint32_t a, uint32_t b) {
  return DSP_RESULT(uint32_t, "ssub8 %0, %1, %2", "r"(a), "r"(b));
}

// The low halves of a and b, a's low; the high halves.
DSP_INLINE uint32_t dsp_lows(uint32_t a, uint32_t b) {
  return DSP_RESULT(uint32_t, "pkhbt %0, %1, %2, lsl #16", "r"(a), "r"(b));
}

DSP_INLINE uint32_t dsp_highs(uint32_t a, uint32_t b) {
  return DSP_RESULT(uint32_t, "pkhtb %0, %1, %2, asr #16", "r"(b), "r"(a));
}

DSP_INLINE uint32_t dsp_address(const void *pointer) {
  return (uint32_t)(uintptr_t)pointer;
}

#else

DSP_INLINE uint32_t dsp_add_pairs(uint32_t a, uint32_t b) {
  return dsp_pair(dsp_low(a) + dsp_low(b), dsp_high(a) + dsp_high(b));
}

DSP_INLINE uint32_t dsp_even(uint32_t bytes) {
  return dsp_pair((int8_t)bytes, (int8_t)(bytes >> 16));
}

DSP_INLINE uint32_t dsp_odd(uint32_t bytes) {
  return dsp_pair((int8_t)(bytes >> 8), (int8_t)(bytes >> 24));
}

DSP_INLINE uint32_t dsp_add_even(uint32_t pair, uint32_t bytes) {
  return dsp_add_pairs(pair, dsp_even(bytes));
}

DSP_INLINE uint32_t dsp_add_odd(uint32_t pair, uint32_t bytes) {
  return dsp_add_pairs(pair, dsp_odd(bytes));
}

DSP_INLINE int32_t dsp_multiply_low(uint32_t a, uint32_t b, int32_t sum) {
  return sum + dsp_low(a) * dsp_low(b);
}

DSP_INLINE int32_t dsp_multiply_high(uint32_t a, uint32_t b, int32_t sum) {
  return sum + dsp_high(a) * dsp_high(b);
}

DSP_INLINE int32_t dsp_multiply_high_low(uint32_t a, uint32_t b, int32_t sum) {
  return sum + dsp_high(a) * dsp_low(b);
}

DSP_INLINE int32_t dsp_multiply_pairs(uint32_t a, uint32_t b, int32_t sum) {
  return dsp_multiply_high(a, b, dsp_multiply_low(a, b, sum));
}

DSP_INLINE int32_t dsp_multiply_top(int32_t a, int32_t b, int32_t sum) {
  return sum + (int32_t)(((int64_t)a * b + (INT64_C(1) << 31)) >> 32);
}

DSP_INLINE void dsp_store_two(uint32_t *to, int32_t offset, uint32_t word0, uint32_t word1) {
  to[offset] = word0;
  to[offset + 1] = word1;
}

DSP_INLINE int32_t dsp_saturate_signed(int32_t value) {
  return dmo_clamp(value, -128, 127);
}

DSP_INLINE int32_t dsp_saturate_unsigned(int32_t value) {
  return dmo_clamp(value, 0, 255);
}

DSP_INLINE uint32_t dsp_max4(uint32_t a, uint32_t b) {
  uint32_t result = 0;
  for (int32_t shift = 0; shift < 32; shift += 8) {
    const uint32_t larger = (int8_t)(a >> shift) > (int8_t)(b >> shift) ? a : b;
    result |= larger & UINT32_C(0xff) << shift;
  }
  return result;
}

DSP_INLINE uint32_t dsp_min4(uint32_t a, uint32_t b) {
  return ~dsp_max4(~a, ~b);
}

DSP_INLINE uint32_t dsp_subtract4(uint32_t a, uint32_t b) {
  const uint32_t even = 0x00ff00ffu, carry = 0x01000100u;
  const uint32_t evens = ((a & even) | carry) - (b & even), odds = ((a >> 8 & even) | carry) - (b >> 8 & even);
  return (evens & even) | (odds & even) << 8;
}

DSP_INLINE uint32_t dsp_lows(uint32_t a, uint32_t b) {
  return (a & 0xffffu) | b << 16;
}

DSP_INLINE uint32_t dsp_highs(uint32_t a, uint32_t b) {
  return a >> 16 | (b & 0xffff0000u);
}

#endif

// Requantisation of a whole layer takes one of three ways.
//
// With a shift in [-21, -1], or [-23, -1] if the output's offset alone is at most 127, and |sum| < 2^30, all of
//   clamp(offset + dmo_requantize(sum, multiplier, shift), min, max)
// is, for the doubled sum, e = -shift, and a bias of 2^(e - 1) + offset * 2^e,
//   (rounded(doubled * multiplier / 2^32) + bias + (doubled < 0 ? -1 : 0)) >> e
// and a saturation: a half of a negative number is rounded down by taking 1 away first, which changes nothing where
// the first rounding yielded 0. To clamp, offset is raised by 127 - max, so that saturation to int8 cuts at max, and
// then saturation to [0, 255] of what lies above min cuts at min.
typedef enum {
  DSP_SATURATE, // the fast way, activation range [-128, 127]
  DSP_CLAMP,    // the fast way, any activation range
  DSP_EXACT,    // any shift and sum: sums are not doubled, and dmo_requantize is called
} dsp_way;

typedef struct {
  int32_t offset, min, max;     // of the output
  int32_t half_offset;          // 2 * (offset + 127 - max) + 1
  int32_t saturated_min;        // min as saturation to int8 leaves it: min + 127 - max
} dsp_range;

DSP_INLINE dsp_range dsp_make_range(int32_t offset, int32_t min, int32_t max) {
  return (dsp_range){ offset, min, max, 2 * (offset + 127 - max) + 1, min + 127 - max };
}

// Of the fast ways: |half_offset| * 2^(-shift - 1) + 2^30 fits into 32 bits. half_offset is at most 765.
DSP_INLINE int32_t dsp_least_shift(const dsp_range *range) {
  return range->half_offset >= -255 && range->half_offset <= 255 ? -23 : -21;
}

// One channel's numbers, as the ways need them.
typedef struct {
  int32_t multiplier;
  int32_t bias;  // DSP_EXACT: not used
  int32_t shift; // to the right; DSP_EXACT: as dmo_requantize takes it
} dsp_channel;

DSP_INLINE dsp_channel dsp_make_channel(dsp_way way, const dsp_range *range, int32_t multiplier, int32_t shift) {
  if (way == DSP_EXACT) {
    return (dsp_channel){ multiplier, 0, shift };
  }
  return (dsp_channel){ multiplier, (int32_t)((uint32_t)range->half_offset << ~shift), -shift };
}

// The quantised output for a sum: doubled, unless the way is DSP_EXACT.
DSP_INLINE int32_t dsp_requantize(dsp_way way, const dsp_range *range, dsp_channel channel, int32_t sum) {
  if (way == DSP_EXACT) {
    const int32_t value = dmo_requantize(sum, channel.multiplier, channel.shift) + range->offset;
    return dmo_clamp(value, range->min, range->max);
  }
  const int32_t value = dsp_saturate_signed(
      dsp_multiply_top(sum, channel.multiplier, channel.bias + (sum >> 31)) >> channel.shift);
  return way == DSP_SATURATE ? value : dsp_saturate_unsigned(value - range->saturated_min) + range->min;
}

// Whether the fast ways take a channel whose sums are a bias and `products` products of numbers in [-255, 255] and in
// [-128, 127].
DSP_INLINE bool dsp_is_fast(const dsp_range *range, int32_t multiplier, int32_t shift, int32_t bias,
                            int32_t products) {
  const int32_t largest_product = 255 * 128;
  const int32_t largest_sum = (1 << 30) - 1;
  if (products > largest_sum / largest_product) {
    return false;
  }
  const int32_t largest_bias = largest_sum - largest_product * products;
  return shift >= dsp_least_shift(range) && shift < 0 && multiplier >= 0 && bias >= -largest_bias &&
         bias <= largest_bias;
}

// The way of the channels that the fast ways take.
DSP_INLINE dsp_way dsp_fast_way(const dsp_range *range) {
  return range->min == -128 && range->max == 127 ? DSP_SATURATE : DSP_CLAMP;
}

// What assembly needs of a channel, packed: 32 times the bias of its sums, and in the lowest four bits -shift - 1; and
// the multiplier.
typedef struct {
  int32_t start, multiplier;
} dsp_numbers;

DSP_INLINE bool dsp_fits_numbers(int32_t shift, int32_t bias) {
  const int32_t largest_bias = (1 << 26) - 1;
  return shift >= -16 && bias >= -largest_bias && bias <= largest_bias;
}

DSP_INLINE dsp_numbers dsp_make_numbers(int32_t multiplier, int32_t shift, int32_t bias) {
  return (dsp_numbers){ (int32_t)((uint32_t)bias << 5 | (~(uint32_t)shift & 15u)), multiplier };
}

// How many of a layer's channels the fast ways do not take; bias: NULL for none.
int32_t dsp_count_exact(const dsp_range *range, int32_t channels, const int32_t *multiplier, const int32_t *shift,
                        const int32_t *bias, int32_t products);

// The way that takes all channels of a layer.
dsp_way dsp_choose_way(const dsp_range *range, int32_t channels, const int32_t *multiplier, const int32_t *shift,
                       const int32_t *bias, int32_t products);

#endif
