// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Weights of 4 bits: a filter is one stream of them over all channels, two in a byte, the first in the lower half. So a
// channel with an odd number of weights ends, or begins, within a byte. Weights are counted from the start of the
// stream, and no byte without one that is asked for is loaded.
#ifndef DSP_INT4_H
#define DSP_INT4_H

#include "dsp_multiply.h"

// Eight weights of a word, whose bits of sign are inverted: so each is 8 more than it was, and not negative.
DSP_INLINE uint32_t dsp_raise8(uint32_t word) {
  return word ^ 0x88888888u;
}

// Eight weights, the first lowest, from weight `first` on.
DSP_INLINE uint32_t dsp_load_int4x8(const int8_t *packed, int32_t first) {
  const int8_t *const from = &packed[first / 2];
  if (first % 2 == 0) {
    return dsp_load4(from);
  }
  return dsp_load4(from) >> 4 | (uint32_t)from[4] << 28;
}

// Four weights, and in the upper half of the word anything.
DSP_INLINE uint32_t dsp_load_int4x4(const int8_t *packed, int32_t first) {
  const uint8_t *const from = (const uint8_t *)&packed[first / 2];
  const uint32_t two = (uint32_t)from[0] | (uint32_t)from[1] << 8;
  return first % 2 == 0 ? two : two >> 4 | (uint32_t)from[2] << 12;
}

// The lower four of a word as bytes.
DSP_INLINE uint32_t dsp_bytes_of_int4(uint32_t word) {
  const uint32_t raised = dsp_raise8(word);
  const uint32_t halves = (raised & 0xffu) | (raised & 0xff00u) << 8;
  return dsp_subtract4((halves | halves << 4) & 0x0f0f0f0fu, 0x08080808u);
}

DSP_INLINE int32_t dsp_int4_at(const int8_t *packed, int32_t index) {
  const uint32_t byte = (uint8_t)packed[index / 2];
  return (int32_t)((index % 2 == 0 ? byte & 15u : byte >> 4) ^ 8u) - 8;
}

// `count` weights as bytes.
void dsp_unpack(const int8_t *packed, int32_t first, int32_t count, int8_t *to);

// Mixed: of each eight columns 0, 2, 4, 6, then 1, 3, 5, 7, because that is how words of weights fall apart. What is
// less than eight columns at the end is as it was.
//
// The weights of one channel as a row of bytes, in whole groups of columns; behind the last column they are 0.
void dsp_unpack_mixed(const int8_t *packed, int32_t first, int32_t columns, int8_t *to);

// Four rows that are laid out as dsp_multiply.h says.
void dsp_mix_rows(uint32_t *rows, int32_t columns);

// A layer, all of whose channels, or those of one group, multiply the same rows.
typedef struct {
  dsp_filters filters;  // filters.filter: room for two channels; filters.columns: whole groups
  const int8_t *packed;
  int32_t first;        // weight of the first channel
  int32_t columns;
} dsp_int4_filters;

DSP_INLINE int32_t dsp_group_bytes(int32_t columns) {
  return DSP_GROUP_COLUMNS * dsp_groups(columns);
}

// Memory for four rows and, behind them, two filters.
DSP_INLINE int32_t dsp_int4_bytes(int32_t columns) {
  return dsp_rows_bytes(columns) + 2 * dsp_group_bytes(columns);
}

// Mixes the rows for which `table` was prepared, and stores the outputs of 1 to 4 pixels, as dsp_multiply_some_pixels.
// Order: for each two channels, filters are unpacked and the outputs are stored.
void dsp_multiply_int4_pixels(const dsp_int4_filters *filters, dsp_table *table, uint32_t *rows, int8_t *weights,
                              int32_t pixels, int8_t *output, int32_t pixel_bytes);

#endif
