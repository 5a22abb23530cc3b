// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Windows of three columns, of four pixels next to each other with stride 1: together they take six columns, of which
// each is loaded once and stored for each pixel that takes it.
#ifndef DSP_THREE_COLUMNS_H
#define DSP_THREE_COLUMNS_H

#include "dsp_multiply.h"

typedef struct {
  bool left, right; // whether the first of the six columns lies outside the input, the last
} dsp_outside;

// Four channels of a column, widened.
typedef struct {
  uint32_t even, odd;
} dsp_widened;

DSP_INLINE dsp_widened dsp_load_widened(const int8_t *from, uint32_t offsets) {
  const uint32_t bytes = dsp_load4(from);
  return (dsp_widened){ dsp_add_even(offsets, bytes), dsp_add_odd(offsets, bytes) };
}

// One line of the windows, of which the first begins at column `left`, by whole groups of channels. Without at_edge no
// column lies outside.
DSP_INLINE void dsp_widen_three_columns(uint32_t *row, const int8_t *line, int32_t left, int32_t depth,
                                        uint32_t offsets, bool at_edge, dsp_outside outside) {
  const uint32_t left_mask = at_edge && outside.left ? 0 : UINT32_MAX;
  const uint32_t right_mask = at_edge && outside.right ? 0 : UINT32_MAX;
  const int32_t end = (left + 1) * depth;
  const int32_t tap = dsp_row_words(depth);
  const int32_t first = at_edge && outside.left ? depth : 0;
  const int32_t last = at_edge && outside.right ? 4 * depth : 5 * depth;
  for (int32_t at = left * depth; at != end; at += DSP_GROUP_COLUMNS) {
    uint32_t *const middle = row + tap;
    uint32_t *const right = middle + tap;
    dsp_widened four = dsp_load_widened(&line[at + first], offsets);
    dsp_store_two(row, 0, at_edge ? four.even & left_mask : four.even, at_edge ? four.odd & left_mask : four.odd);
    four = dsp_load_widened(&line[at + depth], offsets);
    dsp_store_two(middle, 0, four.even, four.odd);
    dsp_store_two(row, 2, four.even, four.odd);
    four = dsp_load_widened(&line[at + 2 * depth], offsets);
    dsp_store_two(right, 0, four.even, four.odd);
    dsp_store_two(middle, 2, four.even, four.odd);
    dsp_store_two(row, 4, four.even, four.odd);
    four = dsp_load_widened(&line[at + 3 * depth], offsets);
    dsp_store_two(right, 2, four.even, four.odd);
    dsp_store_two(middle, 4, four.even, four.odd);
    dsp_store_two(row, 6, four.even, four.odd);
    four = dsp_load_widened(&line[at + 4 * depth], offsets);
    dsp_store_two(right, 4, four.even, four.odd);
    dsp_store_two(middle, 6, four.even, four.odd);
    four = dsp_load_widened(&line[at + last], offsets);
    dsp_store_two(right, 6, at_edge ? four.even & right_mask : four.even, at_edge ? four.odd & right_mask : four.odd);
    row += DSP_GROUP_WORDS;
  }
}

#endif
