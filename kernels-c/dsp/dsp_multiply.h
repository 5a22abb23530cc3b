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
  if ((count & DSP_GROUP_COLUMNS) != 0) {
    DSP_WIDEN_GROUP(row, 0, dsp_load4(from), offsets, doubled);
    from += DSP_GROUP_COLUMNS;
    row += DSP_GROUP_WORDS;
  }
  while (from != end) {
    const uint32_t first = dsp_load4(from), second = dsp_load4(from + DSP_GROUP_COLUMNS);
    from += 2 * DSP_GROUP_COLUMNS;
    DSP_WIDEN_GROUP(row, 0, first, offsets, doubled);
    DSP_WIDEN_GROUP(row, DSP_GROUP_WORDS, second, offsets, doubled);
    row += 2 * DSP_GROUP_WORDS;
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
  dsp_way way;     // of the channels that it takes, DSP_EXACT if it takes none
  bool some_exact; // there are channels that it does not take
} dsp_filters;

DSP_INLINE dsp_way dsp_way_of(const dsp_filters *filters, int32_t c) {
  const bool is_fast = dsp_is_fast(&filters->range, filters->multiplier[c], filters->shift[c],
                                   filters->bias == NULL ? 0 : filters->bias[c], filters->columns);
  return is_fast ? filters->way : DSP_EXACT;
}

#if DSP_INSTRUCTIONS
// What the assembly reads, and in part advances, in this order.
typedef struct {
  int32_t apart;               // bytes from the filter of the first channel of a pair to that of the second
  uint32_t rows_end;           // addresses; of the rows, lowered by the groups that are skipped
  int32_t skipped_code_bytes;
  uint32_t rows;
  const int8_t *filter;
  int32_t filter_step;         // from the end of a first channel's filter to the next pair
  uint32_t numbers, numbers_end; // addresses in the table; or 4 times the channel's index
  int8_t *output;              // of the first pixel, and bytes from one pixel to the next
  int32_t step1, step2, step3;
  int32_t saturated_min, min;  // of dsp_range
  const int32_t *bias, *multiplier, *shift; // of the layer
  int32_t half_offset;         // of dsp_range
  int32_t last_apart;          // of a last pair behind numbers_end, and its numbers_end; 0 if there is none
  uint32_t last_end;
} dsp_block;

enum { DSP_TABLE_CHANNELS = 64, DSP_TABLE_KINDS = 256, DSP_LAST_COLUMNS = 32 };
#endif

// What is needed of each channel, made once for a layer.
typedef struct {
  const uint32_t *rows;
#if DSP_INSTRUCTIONS
  void (*multiply)(dsp_block *block); // NULL: the assembly does not take this layer
  dsp_block block;
  bool is_plain;                      // the assembly takes all channels at once,
  int32_t last_apart;                 // the last two with filters this far apart, if it is not 0
  bool is_filled, has_last;           // numbers, last
  int32_t first;                      // channel of the next block, and where its filter and its numbers are
  const int8_t *filter;
  uint32_t first_numbers, first_end;
  int8_t *output;
  union {
    dsp_numbers numbers[DSP_TABLE_CHANNELS];
    int16_t kinds[DSP_TABLE_KINDS];   // of the channels, if there are some that the fast ways do not take
  };
  int8_t last[DSP_LAST_COLUMNS];      // filter of the last channel
#endif
} dsp_table;

// Memory for four rows.
DSP_INLINE int32_t dsp_rows_bytes(int32_t columns) {
  return dsp_row_words(columns) * (int32_t)sizeof(uint32_t);
}

// Rows of few columns may be on the stack. The pixels of such layers are many, and their tensors are often the peak of
// an arena; on the stack other layers need more than the rows take.
enum { DSP_FEW_COLUMNS = 16, DSP_FEW_WORDS = DSP_FEW_COLUMNS / DSP_GROUP_COLUMNS * DSP_GROUP_WORDS };

DSP_INLINE bool dsp_has_few_columns(int32_t columns) {
  return columns <= DSP_FEW_COLUMNS;
}

// Scratch memory for four rows, where few are on the stack.
DSP_INLINE int32_t dsp_scratch_rows_bytes(int32_t columns) {
  return dsp_has_few_columns(columns) ? 0 : dsp_rows_bytes(columns);
}

// To be called for new filters or rows.
void dsp_prepare(const dsp_filters *filters, dsp_table *table, uint32_t *rows);

// Stores the outputs of four pixels, whose patches are the four rows. Pixels may be equal, if their rows are equal too.
// Order: for each channel or two, filters are loaded and the outputs are stored.
void dsp_multiply_pixels(const dsp_filters *filters, dsp_table *table, int8_t *const *outputs);

#if DSP_INSTRUCTIONS
// By the assembly: the channels, and the pixels, that are set.
DSP_INLINE void dsp_multiply_block(dsp_table *table) {
  dsp_block *const block = &table->block;
  block->filter = table->filter;
  block->numbers = table->first_numbers;
  block->output = table->output + table->first;
  block->last_apart = 0;
  table->multiply(block);
}

DSP_INLINE void dsp_multiply_plain(dsp_table *table) {
  dsp_block *const block = &table->block;
  block->filter = table->filter;
  block->numbers = table->first_numbers;
  block->numbers_end = table->first_end;
  block->output = table->output;
  block->last_apart = table->last_apart;
  table->multiply(block);
}
#endif

// The same for `pixels` pixels, 1 to 4, that are `pixel_bytes` apart; rows beyond them are copies of the last.
DSP_INLINE void dsp_multiply_some_pixels(const dsp_filters *filters, dsp_table *table, int32_t pixels, int8_t *output,
                                         int32_t pixel_bytes) {
#if DSP_INSTRUCTIONS
  if (table->is_plain) {
    table->output = output;
    table->block.step1 = pixels > 1 ? pixel_bytes : 0;
    table->block.step2 = pixels > 2 ? pixel_bytes : 0;
    table->block.step3 = pixels > 3 ? pixel_bytes : 0;
    dsp_multiply_plain(table);
    return;
  }
#endif
  int8_t *const output1 = pixels > 1 ? output + pixel_bytes : output;
  int8_t *const output2 = pixels > 2 ? output1 + pixel_bytes : output1;
  int8_t *const output3 = pixels > 3 ? output2 + pixel_bytes : output2;
  int8_t *const outputs[DSP_ROWS] = { output, output1, output2, output3 };
  dsp_multiply_pixels(filters, table, outputs);
}

#if DSP_INSTRUCTIONS
// Widens one row each from four places that are `apart` bytes apart, by whole groups.
void dsp_widen_four(uint32_t *rows, const int8_t *from, int32_t apart, int32_t groups, uint32_t offsets);
#endif

#endif
