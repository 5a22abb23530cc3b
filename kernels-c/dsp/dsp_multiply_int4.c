// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_int4.h"

// Weights 0 and 4 of eight, and 1 and 5, 2 and 6, 3 and 7 after a shift.
static const uint32_t pair_mask = 0x000f000fu;

// Of each eight columns, which lie in pairs 0 and 2, 1 and 3, 4 and 6, 5 and 7, pairs as the weights have them.
static void mix_rows(uint32_t *rows, int32_t columns) {
  for (; columns >= 2 * DSP_GROUP_COLUMNS; columns -= 2 * DSP_GROUP_COLUMNS) {
    for (int32_t i = 0; i < DSP_GROUP_WORDS; i += 2) {
      uint32_t *const first = &rows[i], *const second = &rows[i + DSP_GROUP_WORDS];
      const uint32_t even0 = first[0], odd0 = first[1], even1 = second[0], odd1 = second[1];
      first[0] = dsp_lows(even0, even1);
      first[1] = dsp_highs(even0, even1);
      second[0] = dsp_lows(odd0, odd1);
      second[1] = dsp_highs(odd0, odd1);
    }
    rows += 2 * DSP_GROUP_WORDS;
  }
}

// A pair of columns of each row by a pair of weights.
DSP_INLINE dsp_sums add_pair(const uint32_t *rows, uint32_t weights, dsp_sums sums) {
  sums.row0 = dsp_multiply_pairs(rows[0], weights, sums.row0);
  sums.row1 = dsp_multiply_pairs(rows[2], weights, sums.row1);
  sums.row2 = dsp_multiply_pairs(rows[4], weights, sums.row2);
  sums.row3 = dsp_multiply_pairs(rows[6], weights, sums.row3);
  return sums;
}

// What raised weights add too much.
static dsp_sums raised_by(const uint32_t *rows, int32_t columns) {
  dsp_sums sums = { 0, 0, 0, 0 };
  for (int32_t groups = dsp_groups(columns); groups != 0; --groups) {
    sums = add_pair(&rows[1], dsp_pair(8, 8), add_pair(rows, dsp_pair(8, 8), sums));
    rows += DSP_GROUP_WORDS;
  }
  return sums;
}

DSP_INLINE uint32_t load_eight(const int8_t *from, bool is_split) {
  const uint32_t word = dsp_load4(from);
  return dsp_raise8(is_split ? word >> 4 | (uint32_t)from[4] << 28 : word);
}

// Whole eights of columns of one filter, split if its weights begin within a byte.
DSP_INLINE dsp_sums add_eights(const uint32_t *rows, const int8_t *filter, int32_t eights, bool is_split,
                               dsp_sums sums) {
  for (const int8_t *const end = filter + 4 * eights; filter != end; filter += 4) {
    const uint32_t weights = load_eight(filter, is_split);
    sums = add_pair(rows, weights & pair_mask, sums);
    sums = add_pair(rows + DSP_GROUP_WORDS, weights >> 4 & pair_mask, sums);
    sums = add_pair(rows + 1, weights >> 8 & pair_mask, sums);
    sums = add_pair(rows + DSP_GROUP_WORDS + 1, weights >> 12 & pair_mask, sums);
    rows += 2 * DSP_GROUP_WORDS;
  }
  return sums;
}

DSP_OUT_OF_LINE static void add_eights_of_one(const uint32_t *rows, const int8_t *filter, int32_t eights,
                                              dsp_sums *sums) {
  *sums = add_eights(rows, filter, eights, false, *sums);
}

DSP_OUT_OF_LINE static void add_eights_of_split(const uint32_t *rows, const int8_t *filter, int32_t eights,
                                                dsp_sums *sums) {
  *sums = add_eights(rows, filter, eights, true, *sums);
}

#if DSP_INSTRUCTIONS

// By hand, because it takes every register.
//
// The stack holds the address of the first filter's weights, the bytes to those of the second, and the end of the rows.
//
//   r0 rows   r4 to r7 sums of the first filter, r8 to r11 of the second   r3, r2 eight weights of the two
//   r1, r12 pairs of them   lr a pair of columns
#define ADD_ROW(offset, sum0, sum1)       \
  "ldr lr, [r0, #" offset "]\n\t"         \
  "smlad " sum0 ", lr, r1, " sum0 "\n\t"  \
  "smlad " sum1 ", lr, r12, " sum1 "\n\t"
#define ADD_PAIR(offset0, offset1, offset2, offset3) \
  "and r1, r3, #0x000f000f\n\t"                     \
  "and r12, r2, #0x000f000f\n\t"                    \
  ADD_ROW(offset0, "r4", "r8")                       \
  ADD_ROW(offset1, "r5", "r9")                       \
  ADD_ROW(offset2, "r6", "r10")                      \
  ADD_ROW(offset3, "r7", "r11")
#define NEXT_PAIR "lsrs r3, r3, #4\n\tlsrs r2, r2, #4\n\t"

// Whole eights of columns, at least one, of two filters of whole bytes that lie `apart`. An argument is on the stack,
// as the procedure call standard says.
DSP_NAKED static void add_eights_of_two(DSP_UNUSED const uint32_t *rows, DSP_UNUSED const int8_t *filter,
                                        DSP_UNUSED int32_t apart, DSP_UNUSED const uint32_t *rows_end,
                                        DSP_UNUSED dsp_sums *sums) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldr r12, [sp, #36]\n\t"
                   "push {r1, r2, r3}\n\t"
                   "ldm r12, {r4, r5, r6, r7, r8, r9, r10, r11}\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   "ldrd r1, r2, [sp]\n\t"
                   "ldr r2, [r1, r2]\n\t"
                   "ldr r3, [r1], #4\n\t"
                   "eor r2, r2, #0x88888888\n\t"
                   "eor r3, r3, #0x88888888\n\t"
                   "str r1, [sp]\n\t"
                   ADD_PAIR("0", "8", "16", "24")
                   NEXT_PAIR
                   ADD_PAIR("32", "40", "48", "56")
                   NEXT_PAIR
                   ADD_PAIR("4", "12", "20", "28")
                   NEXT_PAIR
                   ADD_PAIR("36", "44", "52", "60")
                   "ldr r1, [sp, #8]\n\t"
                   "adds r0, r0, #64\n\t"
                   "cmp r0, r1\n\t"
                   "bne.w 1b\n\t"
                   "ldr r12, [sp, #48]\n\t"
                   "add sp, sp, #12\n\t"
                   "stm r12, {r4, r5, r6, r7, r8, r9, r10, r11}\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#else

static void add_eights_of_two(const uint32_t *rows, const int8_t *filter, int32_t apart, const uint32_t *rows_end,
                              dsp_sums *sums) {
  const int32_t eights = (int32_t)(rows_end - rows) / (2 * DSP_GROUP_WORDS);
  sums[0] = add_eights(rows, filter, eights, false, sums[0]);
  sums[1] = add_eights(rows, filter + apart, eights, false, sums[1]);
}

#endif

// Up to four weights, and behind them anything.
static uint32_t load_some(const int8_t *packed, int32_t first, int32_t count) {
  if (count == 4) {
    return dsp_load_int4x4(packed, first);
  }
  const int32_t within = first % 2;
  return dsp_load_some(&packed[first / 2], (within + count + 1) / 2) >> (4 * within);
}

// Less than eight columns at the end of a filter, whose rows are not mixed and beyond the last column 0.
static dsp_sums add_rest(const uint32_t *rows, const int8_t *packed, int32_t first, int32_t count, dsp_sums sums) {
  while (count > 0) {
    const int32_t some = count < 4 ? count : 4;
    const uint32_t weights = dsp_raise8(load_some(packed, first, some)) & 0xffffu;
    const uint32_t twice = weights | weights << 8;
    sums = add_pair(&rows[1], twice >> 4 & pair_mask, add_pair(rows, twice & pair_mask, sums));
    rows += DSP_GROUP_WORDS;
    first += 4;
    count -= 4;
  }
  return sums;
}

// One channel or two: sums of rows and raised weights.
static void multiply(const dsp_int4_filters *filters, const uint32_t *rows, int32_t channel, int32_t count,
                     dsp_sums *sums) {
  const int32_t columns = filters->filters.columns, eights = columns / 8;
  const int32_t first = filters->first + channel * columns;
  const uint32_t *const rest = &rows[2 * DSP_GROUP_WORDS * eights];
  if (count == 2 && eights != 0 && first % 2 == 0 && columns % 2 == 0) {
    add_eights_of_two(rows, &filters->packed[first / 2], columns / 2, rest, sums);
  } else {
    for (int32_t i = 0; i < count; ++i) {
      const int32_t at = first + i * columns;
      (at % 2 == 0 ? add_eights_of_one : add_eights_of_split)(rows, &filters->packed[at / 2], eights, &sums[i]);
    }
  }
  for (int32_t i = 0; i < count && columns % 8 != 0; ++i) {
    sums[i] = add_rest(rest, filters->packed, first + i * columns + 8 * eights, columns % 8, sums[i]);
  }
}

static void store_exact(const dsp_filters *filters, int32_t c, dsp_sums sums, int32_t pixels, int8_t *output,
                        int32_t pixel_bytes) {
  const dsp_channel channel =
      dsp_make_channel(DSP_EXACT, &filters->range, filters->multiplier[c], filters->shift[c]);
  const int32_t sum[DSP_ROWS] = { sums.row0, sums.row1, sums.row2, sums.row3 };
  for (int32_t i = 0; i < pixels; ++i) {
    output[i * pixel_bytes] = (int8_t)dsp_requantize(DSP_EXACT, &filters->range, channel, sum[i]);
  }
}

DSP_INLINE void store_fast(const dsp_filters *filters, int32_t c, dsp_sums sums, int32_t pixels, int8_t *output,
                           int32_t pixel_bytes) {
  const dsp_range *const range = &filters->range;
  const dsp_channel channel = dsp_make_channel(DSP_CLAMP, range, filters->multiplier[c], filters->shift[c]);
  *output = (int8_t)dsp_requantize(DSP_CLAMP, range, channel, 2 * sums.row0);
  if (pixels > 1) {
    output += pixel_bytes;
    *output = (int8_t)dsp_requantize(DSP_CLAMP, range, channel, 2 * sums.row1);
  }
  if (pixels > 2) {
    output += pixel_bytes;
    *output = (int8_t)dsp_requantize(DSP_CLAMP, range, channel, 2 * sums.row2);
  }
  if (pixels > 3) {
    output += pixel_bytes;
    *output = (int8_t)dsp_requantize(DSP_CLAMP, range, channel, 2 * sums.row3);
  }
}

void dsp_multiply_int4_pixels(const dsp_int4_filters *layer, uint32_t *rows, int32_t pixels, int8_t *output,
                              int32_t pixel_bytes) {
  const dsp_filters *const filters = &layer->filters;
  const int32_t channels = filters->channels;
  mix_rows(rows, filters->columns);
  const dsp_sums raised = raised_by(rows, filters->columns);
  for (int32_t c = 0; c < channels; c += 2) {
    const int32_t count = c + 1 < channels ? 2 : 1;
    dsp_sums sums[2];
    for (int32_t i = 0; i < count; ++i) {
      const int32_t start = filters->bias == NULL ? 0 : filters->bias[c + i];
      sums[i] = (dsp_sums){ start - raised.row0, start - raised.row1, start - raised.row2, start - raised.row3 };
    }
    multiply(layer, rows, c, count, sums);
    for (int32_t i = c; i < c + count; ++i) {
      const dsp_way way = filters->some_exact ? dsp_way_of(filters, i) : filters->way;
      if (way == DSP_EXACT) {
        store_exact(filters, i, sums[i - c], pixels, &output[i], pixel_bytes);
      } else {
        store_fast(filters, i, sums[i - c], pixels, &output[i], pixel_bytes);
      }
    }
  }
}
