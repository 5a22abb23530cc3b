// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Four sums of products at a time: the inside of every convolution here.
//
// Four rows of numbers are widened to 16 bit and laid out in groups of four columns: for each row in turn a pair of
// columns 0 and 2, then a pair of columns 1 and 3; 8 words a group. What is missing in the last group is 0. Against
// them runs a row of bytes.
#ifndef DSP_MULTIPLY_H
#define DSP_MULTIPLY_H

#include "dsp.h"

#include <stddef.h>

enum { DSP_ROWS = 4, DSP_GROUP_COLUMNS = 4, DSP_GROUP_WORDS = 2 * DSP_ROWS };

DSP_INLINE int32_t dsp_groups(int32_t columns) {
  return (columns + DSP_GROUP_COLUMNS - 1) / DSP_GROUP_COLUMNS;
}

DSP_INLINE int32_t dsp_row_words(int32_t columns) {
  return dsp_groups(columns) * DSP_GROUP_WORDS;
}

// Widens four bytes, `slot` words (a constant) behind `row`: (byte + offset) for the two numbers of `offset`, or twice
// that if `doubled`.
#define DSP_WIDEN_GROUP(row, slot, bytes, offset, doubled)                  \
  do {                                                                      \
    const uint32_t group_bytes = (bytes);                                   \
    const uint32_t even_pair = dsp_add_even((offset), group_bytes);         \
    const uint32_t odd_pair = dsp_add_odd((offset), group_bytes);           \
    dsp_store_two((row), (slot), (doubled) ? dsp_add_pairs(even_pair, even_pair) : even_pair, \
                  (doubled) ? dsp_add_pairs(odd_pair, odd_pair) : odd_pair); \
  } while (0)

// Widens `count` bytes into one row and returns where the row goes on, if count is a multiple of 4.
DSP_INLINE uint32_t *dsp_widen(uint32_t *row, const int8_t *from, int32_t count, int32_t offset, bool doubled) {
  const uint32_t offsets = dsp_pair(offset, offset);
  const int8_t *const end = from + (count & ~3);
  while (from != end) {
    DSP_WIDEN_GROUP(row, 0, dsp_load4(from), offsets, doubled);
    from += DSP_GROUP_COLUMNS;
    row += DSP_GROUP_WORDS;
  }
  const int32_t rest = count & 3;
  if (rest != 0) {
    // Columns beyond the row are to be 0, so they get no offset either.
    const int32_t scale = doubled ? 2 : 1;
    const int32_t value1 = rest > 1 ? scale * (from[1] + offset) : 0;
    const int32_t value2 = rest > 2 ? scale * (from[2] + offset) : 0;
    row[0] = dsp_pair(scale * (from[0] + offset), value2);
    row[1] = dsp_pair(value1, 0);
    row += DSP_GROUP_WORDS;
  }
  return row;
}

typedef struct {
  int32_t row0, row1, row2, row3;
} dsp_sums;

// sums + rows * bytes, for `columns` columns; not a byte beyond them is loaded.
DSP_INLINE dsp_sums dsp_multiply(const uint32_t *rows, const int8_t *bytes, int32_t columns, dsp_sums sums) {
  while (columns > 0) {
    const uint32_t four = columns >= DSP_GROUP_COLUMNS ? dsp_load4(bytes) : dsp_load_some(bytes, columns);
    const uint32_t even = dsp_even(four);
    const uint32_t odd = dsp_odd(four);
    sums.row0 = dsp_multiply_pairs(rows[1], odd, dsp_multiply_pairs(rows[0], even, sums.row0));
    sums.row1 = dsp_multiply_pairs(rows[3], odd, dsp_multiply_pairs(rows[2], even, sums.row1));
    sums.row2 = dsp_multiply_pairs(rows[5], odd, dsp_multiply_pairs(rows[4], even, sums.row2));
    sums.row3 = dsp_multiply_pairs(rows[7], odd, dsp_multiply_pairs(rows[6], even, sums.row3));
    bytes += DSP_GROUP_COLUMNS;
    rows += DSP_GROUP_WORDS;
    columns -= DSP_GROUP_COLUMNS;
  }
  return sums;
}

// Four pixels by all filters.

typedef struct {
  const int8_t *filter; // [channels, columns]
  const int32_t *bias;  // [channels], or NULL for none
  const int32_t *multiplier, *shift;
  int32_t channels, columns;
  dsp_range range;
  dsp_way way; // rows are doubled, unless it is DSP_EXACT
} dsp_filters;

// What is needed of each channel, for some of the channels at a time; the assembly reads the first seven words.
enum { DSP_TABLE_CHANNELS = 32 };
typedef struct dsp_table {
  uint32_t *rows;
  int32_t groups;
  const int32_t *start_end;
  int32_t saturated_min, min; // of dsp_range
  const int8_t *filter;
  int32_t minus_count;
  void (*multiply)(const struct dsp_table *table); // takes four pixels by all channels; NULL: must be taken apart
  uint32_t *output_ends;                           // of four pixels; behind the rows
  int32_t first, count;                            // the channels below
  int32_t start[DSP_TABLE_CHANNELS];               // bias, doubled as the rows are
  int32_t multiplier[DSP_TABLE_CHANNELS], bias[DSP_TABLE_CHANNELS], shift[DSP_TABLE_CHANNELS]; // dsp_channel
} dsp_table;

// Memory for four rows, and behind them what the assembly reads: where multipliers, biases and shifts end, and where
// the outputs of four pixels end.
enum { DSP_TAIL_ENDS = 3, DSP_TAIL_WORDS = DSP_TAIL_ENDS + DSP_ROWS };
DSP_INLINE int32_t dsp_rows_bytes(int32_t columns) {
  return (dsp_row_words(columns) + DSP_TAIL_WORDS) * (int32_t)sizeof(uint32_t);
}

// To be called for new filters or rows.
void dsp_prepare(const dsp_filters *filters, dsp_table *table, uint32_t *rows);

#if DSP_INSTRUCTIONS
DSP_INLINE uint32_t dsp_address(const void *pointer) {
  return (uint32_t)(uintptr_t)pointer;
}

// Widens and doubles one row each from four places that are `apart` bytes apart, by whole groups.
void dsp_widen_doubled(uint32_t *rows, const int8_t *from, int32_t apart, int32_t groups, uint32_t offsets);
#endif

void dsp_multiply_some_pixels(const dsp_filters *filters, dsp_table *table, int32_t pixels, int8_t *output,
                              int32_t pixel_bytes);

// Stores the outputs of `pixels` pixels, 1 to 4, whose patches are the first of the four rows; pixel_bytes lie from one
// pixel of the output to the next. Order: for each channel, its filter is loaded and the outputs are stored.
DSP_INLINE void dsp_multiply_pixels(const dsp_filters *filters, dsp_table *table, int32_t pixels, int8_t *output,
                                    int32_t pixel_bytes) {
#if DSP_INSTRUCTIONS
  if (table->multiply != NULL && pixels == DSP_ROWS) {
    uint32_t *const ends = table->output_ends;
    const uint32_t end = dsp_address(output + filters->channels);
    ends[0] = end;
    ends[1] = end + (uint32_t)pixel_bytes;
    ends[2] = end + 2 * (uint32_t)pixel_bytes;
    ends[3] = end + 3 * (uint32_t)pixel_bytes;
    table->multiply(table);
    return;
  }
#endif
  dsp_multiply_some_pixels(filters, table, pixels, output, pixel_bytes);
}

#endif
