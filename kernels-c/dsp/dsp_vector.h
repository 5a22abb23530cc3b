// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One row of bytes by up to four filters, without scratch: the inside of the fully connected layer and of the strided
// 1x1 convolution.
#ifndef DSP_VECTOR_H
#define DSP_VECTOR_H

#include "dsp_multiply.h"

#include <stddef.h>

#if DSP_INSTRUCTIONS
// Adds to four sums, in memory, (row + offset) * filters for four filters that are `apart` bytes apart; whole groups,
// at least one.
void dsp_multiply_vector_groups(const int8_t *row, uint32_t offsets, const int8_t *filter, int32_t apart,
                                int32_t groups, dsp_sums *sums);
#endif

// sums + (row + offset) * (filters + filter_offset). The filters are `columns` bytes long and apart; there are
// `filters` of them, 1 to 4, and no byte beyond them is loaded.
DSP_INLINE dsp_sums dsp_multiply_vector(const int8_t *row, int32_t offset, const int8_t *filter, int32_t filters,
                                        int32_t filter_offset, int32_t columns, dsp_sums sums) {
  const uint32_t offsets = dsp_pair(offset, offset);
  const uint32_t filter_offsets = dsp_pair(filter_offset, filter_offset);
  // Where there are fewer than four filters, the last is used again.
  const int8_t *const filter1 = filters > 1 ? filter + columns : filter;
  const int8_t *const filter2 = filters > 2 ? filter1 + columns : filter1;
  const int8_t *const filter3 = filters > 3 ? filter2 + columns : filter2;
  const int32_t whole = columns & ~3;
  int32_t i = 0;
#if DSP_INSTRUCTIONS
  if (filters == 4 && filter_offset == 0 && whole != 0) {
    dsp_sums in_memory = sums;
    dsp_multiply_vector_groups(row, offsets, filter, columns, whole / 4, &in_memory);
    sums = in_memory;
    i = whole;
  }
#endif
  for (; i < whole; i += 4) {
    const uint32_t four = dsp_load4(&row[i]);
    const uint32_t even = dsp_add_even(offsets, four);
    const uint32_t odd = dsp_add_odd(offsets, four);
    const uint32_t four0 = dsp_load4(&filter[i]);
    sums.row0 = dsp_multiply_pairs(even, dsp_add_even(filter_offsets, four0), sums.row0);
    sums.row0 = dsp_multiply_pairs(odd, dsp_add_odd(filter_offsets, four0), sums.row0);
    const uint32_t four1 = dsp_load4(&filter1[i]);
    sums.row1 = dsp_multiply_pairs(even, dsp_add_even(filter_offsets, four1), sums.row1);
    sums.row1 = dsp_multiply_pairs(odd, dsp_add_odd(filter_offsets, four1), sums.row1);
    const uint32_t four2 = dsp_load4(&filter2[i]);
    sums.row2 = dsp_multiply_pairs(even, dsp_add_even(filter_offsets, four2), sums.row2);
    sums.row2 = dsp_multiply_pairs(odd, dsp_add_odd(filter_offsets, four2), sums.row2);
    const uint32_t four3 = dsp_load4(&filter3[i]);
    sums.row3 = dsp_multiply_pairs(even, dsp_add_even(filter_offsets, four3), sums.row3);
    sums.row3 = dsp_multiply_pairs(odd, dsp_add_odd(filter_offsets, four3), sums.row3);
  }
  for (; i < columns; ++i) {
    const int32_t value = row[i] + offset;
    sums.row0 += value * (filter[i] + filter_offset);
    sums.row1 += value * (filter1[i] + filter_offset);
    sums.row2 += value * (filter2[i] + filter_offset);
    sums.row3 += value * (filter3[i] + filter_offset);
  }
  return sums;
}

// Whether sums can be doubled: they are at least -2^30 and below 2^30. Then the fast ways take them, for the multiplier
// and shift that they take.
DSP_INLINE bool dsp_are_small(dsp_sums sums) {
  const uint32_t limit = UINT32_C(1) << 30;
  const uint32_t beyond = ((uint32_t)sums.row0 + limit) | ((uint32_t)sums.row1 + limit) |
                          ((uint32_t)sums.row2 + limit) | ((uint32_t)sums.row3 + limit);
  return beyond >> 31 == 0;
}

// The quantised outputs of four channels, in a word, in a fast way.
DSP_INLINE uint32_t dsp_requantize_four(const dsp_range *range, dsp_sums sums, const dsp_channel *channels,
                                        int32_t step) {
  return dsp_pack4(dsp_requantize(DSP_CLAMP, range, channels[0], 2 * sums.row0),
                   dsp_requantize(DSP_CLAMP, range, channels[step], 2 * sums.row1),
                   dsp_requantize(DSP_CLAMP, range, channels[2 * step], 2 * sums.row2),
                   dsp_requantize(DSP_CLAMP, range, channels[3 * step], 2 * sums.row3));
}

// The quantised outputs of up to four channels, in a word. multiplier and shift are those of the first channel, and the
// next channel's lie `step` further: 1, or 0 for a whole tensor. The way is chosen by the sums themselves.
DSP_INLINE uint32_t dsp_requantize_vector(const dsp_range *range, dsp_sums sums, int32_t channels,
                                          const int32_t *multiplier, const int32_t *shift, int32_t step) {
  if (channels == 4 && dsp_are_small(sums)) {
    dsp_channel channel[4];
    bool are_fast = true;
    for (int32_t i = 0; i <= 3 * step && are_fast; ++i) {
      are_fast = dsp_is_fast(range, multiplier[i], shift[i], 0, 0);
      if (are_fast) {
        channel[i] = dsp_make_channel(DSP_CLAMP, range, multiplier[i], shift[i]);
      }
    }
    if (are_fast) {
      return dsp_requantize_four(range, sums, channel, step);
    }
  }
  const int32_t sum[] = { sums.row0, sums.row1, sums.row2, sums.row3 };
  uint32_t word = 0;
  for (int32_t i = 0; i < channels; ++i) {
    const dsp_channel channel = { multiplier[i * step], 0, shift[i * step] };
    word |= (uint32_t)(uint8_t)dsp_requantize(DSP_EXACT, range, channel, sum[i]) << (8 * i);
  }
  return word;
}

DSP_INLINE dsp_sums dsp_bias_vector(const int32_t *bias, int32_t channels) {
  if (bias == NULL) {
    return (dsp_sums){ 0, 0, 0, 0 };
  }
  return (dsp_sums){ bias[0], channels > 1 ? bias[1] : 0, channels > 2 ? bias[2] : 0, channels > 3 ? bias[3] : 0 };
}

DSP_INLINE void dsp_store_vector(int8_t *to, uint32_t word, int32_t count) {
  if (count == 4) {
    dsp_store4(to, word);
  } else {
    dsp_store_some(to, word, count);
  }
}

#endif
