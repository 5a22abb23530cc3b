// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_multiply.h"

// One channel, in its way: the C form of what the assembly does for two.
static void multiply_filter(const dsp_filters *filters, const dsp_table *table, int32_t c, int8_t *const *outputs) {
  const dsp_way way = dsp_way_of(filters, c);
  const int32_t start = filters->bias == NULL ? 0 : filters->bias[c];
  const dsp_sums sums = dsp_multiply(table->rows, &filters->filter[c * filters->columns], filters->columns,
                                     (dsp_sums){ start, start, start, start });
  const int32_t sum[DSP_ROWS] = { sums.row0, sums.row1, sums.row2, sums.row3 };
  const dsp_channel channel = dsp_make_channel(way, &filters->range, filters->multiplier[c], filters->shift[c]);
  for (int32_t i = 0; i < DSP_ROWS; ++i) {
    const int32_t value = way == DSP_EXACT ? dsp_requantize(DSP_EXACT, &filters->range, channel, sum[i])
                                           : dsp_requantize(DSP_CLAMP, &filters->range, channel, 2 * sum[i]);
    outputs[i][c] = (int8_t)value;
  }
}

#if DSP_INSTRUCTIONS

// Four pixels by pairs of channels, in the fast ways. By hand, because it takes every register and a compiler keeps
// much of this on the stack. Flash memory is slow, so what runs once for four pixels is short.
//
// The stack holds, of dsp_block, `apart` and `rows_end`, then where the loop is entered, the block's address, and
// `half_offset`.
//
//   r6 to r9 sums of the first channel, r10 to r12 and lr of the second     r0 rows      r1 filter
//   r2, r3 columns of the two filters                                       r4, r5 columns of two rows
// and after the columns
//   r0 start   r1 multiplier   r2 bias   r4 shift   r5 temporary   r3 numbers
//
// Half a group: columns 0 and 2, or 1 and 3. Loads stand together, because one after another takes a cycle less.
#define MULTIPLY_HALF(row0, row1, row2, row3, rotate, load_filter) \
  "ldr r3, [sp]\n\t"                                               \
  "ldr r4, [r0, #" row0 "]\n\t"                                    \
  "ldr r3, [r1, r3]\n\t"                                           \
  "ldr r5, [r0, #" row1 "]\n\t"                                    \
  load_filter                                                      \
  "sxtb16 r3, r3" rotate "\n\t"                                  \
  "sxtb16 r2, r2" rotate "\n\t"                                  \
  "smlad r6, r4, r2, r6\n\t"                                       \
  "smlad r10, r4, r3, r10\n\t"                                     \
  "smlad r7, r5, r2, r7\n\t"                                       \
  "smlad r11, r5, r3, r11\n\t"                                     \
  "ldr r4, [r0, #" row2 "]\n\t"                                    \
  "ldr r5, [r0, #" row3 "]\n\t"                                    \
  "smlad r8, r4, r2, r8\n\t"                                       \
  "smlad r12, r4, r3, r12\n\t"                                     \
  "smlad r9, r5, r2, r9\n\t"                                       \
  "smlad lr, r5, r3, lr\n\t"
#define MULTIPLY_GROUP(even0, even1, even2, even3, odd0, odd1, odd2, odd3) \
  MULTIPLY_HALF(even0, even1, even2, even3, "", "ldr.w r2, [r1]\n\t")      \
  MULTIPLY_HALF(odd0, odd1, odd2, odd3, ", ror #8", "ldr r2, [r1], #4\n\t")
#define MULTIPLY_GROUPS                                              \
  MULTIPLY_GROUP("0", "8", "16", "24", "4", "12", "20", "28")        \
  MULTIPLY_GROUP("32", "40", "48", "56", "36", "44", "52", "60")     \
  MULTIPLY_GROUP("64", "72", "80", "88", "68", "76", "84", "92")     \
  "adds r0, r0, #96\n\t"
// Bytes of code for a group, and groups in a row.
enum { GROUP_CODE_BYTES = 112, UNROLLED_GROUPS = 3 };

#define REQUANTIZE(sum)                     \
  "add " sum ", r0, " sum ", lsl #1\n\t"    \
  "add r5, r2, " sum ", asr #31\n\t"        \
  "smmlar " sum ", " sum ", r1, r5\n\t"     \
  "asr " sum ", " sum ", r4\n\t"            \
  "ssat " sum ", #8, " sum ", asr #1\n\t"
#define CLAMP(value)                  \
  "sub " value ", " value ", r1\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r2\n\t"
#define CLAMP_ALL                                                                                 \
  "ldr r0, [sp, #12]\n\tldrd r1, r2, [r0, #48]\n\t"                                               \
  CLAMP("r6") CLAMP("r7") CLAMP("r8") CLAMP("r9") CLAMP("r10") CLAMP("r11") CLAMP("r12") CLAMP("lr")
// The next channel's numbers: from the table; or, for more channels than it holds, from where the layer has them.
#define TABLE_CHANNEL         \
  "ldr r0, [r3], #8\n\t"      \
  "ldr r2, [sp, #16]\n\t"     \
  "ldr r1, [r3, #-4]\n\t"     \
  "and r4, r0, #15\n\t"       \
  "asrs r0, r0, #4\n\t"       \
  "lsls r2, r2, r4\n\t"
#define LAYER_CHANNEL            \
  "ldr r5, [sp, #12]\n\t"        \
  "ldr r0, [r5, #56]\n\t"        \
  "ldr r1, [r5, #60]\n\t"        \
  "ldr r4, [r5, #64]\n\t"        \
  "ldr r2, [sp, #16]\n\t"        \
  "ldr r0, [r0, r3]\n\t"         \
  "ldr r1, [r1, r3]\n\t"         \
  "ldr r4, [r4, r3]\n\t"         \
  "adds r3, r3, #4\n\t"          \
  "lsls r0, r0, #1\n\t"          \
  "mvns r4, r4\n\t"              \
  "lsls r2, r2, r4\n\t"
#define MULTIPLY(load_channel, clamp)                                        \
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"         \
                   "mov r4, r0\n\t"                                          \
                   "ldm r0, {r1, r2, r3}\n\t"                                \
                   "ldr r5, [r0, #68]\n\t"                                   \
                   "adr.w r6, 2f\n\t"                                        \
                   "add r3, r3, r6\n\t"                                      \
                   "orr r3, r3, #1\n\t"                                      \
                   "push {r1, r2, r3, r4, r5}\n\t"                           \
                   ".balign 4\n"                                            \
                   "1:\n\t"                                                  \
                   "ldr r4, [sp, #8]\n\t"                                    \
                   "ldr r1, [r0, #16]\n\t"                                   \
                   "ldr r0, [r0, #12]\n\t"                                   \
                   "movs r6, #0\n\t"                                         \
                   "movs r7, #0\n\t"                                         \
                   "mov r8, r6\n\t"                                          \
                   "mov r9, r6\n\t"                                          \
                   "mov r10, r6\n\t"                                         \
                   "mov r11, r6\n\t"                                         \
                   "mov r12, r6\n\t"                                         \
                   "mov lr, r6\n\t"                                          \
                   "bx r4\n\t"                                               \
                   ".balign 4\n"                                            \
                   "2:\n\t"                                                  \
                   MULTIPLY_GROUPS                                           \
                   "ldr r4, [sp, #4]\n\t"                                    \
                   "cmp r0, r4\n\t"                                          \
                   "bne 2b\n\t"                                              \
                   "ldr r0, [sp, #12]\n\t"                                   \
                   "ldr r2, [r0, #20]\n\t"                                   \
                   "ldr r3, [r0, #24]\n\t"                                   \
                   "add r1, r1, r2\n\t"                                      \
                   "str r1, [r0, #16]\n\t"                                   \
                   load_channel                                              \
                   REQUANTIZE("r6") REQUANTIZE("r7")                         \
                   REQUANTIZE("r8") REQUANTIZE("r9")                         \
                   load_channel                                              \
                   REQUANTIZE("r10") REQUANTIZE("r11")                       \
                   REQUANTIZE("r12") REQUANTIZE("lr")                        \
                   clamp                                                     \
                   "ldr r0, [sp, #12]\n\t"                                   \
                   "ldr r4, [r0, #36]\n\t"                                   \
                   "ldr r1, [r0, #32]\n\t"                                   \
                   "ldr r5, [r0, #28]\n\t"                                   \
                   "str r3, [r0, #24]\n\t"                                   \
                   "add r2, r1, r4\n\t"                                      \
                   "strb r6, [r1], #1\n\t"                                   \
                   "strb r10, [r1], #1\n\t"                                  \
                   "strb r7, [r2]\n\t"                                       \
                   "strb r11, [r2, #1]\n\t"                                  \
                   "str r1, [r0, #32]\n\t"                                   \
                   "ldr r4, [r0, #40]\n\t"                                   \
                   "ldr r6, [r0, #44]\n\t"                                   \
                   "add r2, r2, r4\n\t"                                      \
                   "cmp r3, r5\n\t"                                          \
                   "strb r8, [r2]\n\t"                                       \
                   "strb r12, [r2, #1]\n\t"                                  \
                   "add r2, r2, r6\n\t"                                      \
                   "strb r9, [r2]\n\t"                                       \
                   "strb lr, [r2, #1]\n\t"                                   \
                   "bne 1b\n\t"                                              \
                   "ldr r1, [r0, #72]\n\t"                                   \
                   "ldr r2, [r0, #76]\n\t"                                   \
                   "str r1, [sp]\n\t"                                        \
                   "cbz r1, 3f\n\t"                                          \
                   "movs r1, #0\n\t"                                         \
                   "str r1, [r0, #72]\n\t"                                   \
                   "str r2, [r0, #28]\n\t"                                   \
                   "b.w 1b\n"                                                \
                   "3:\n\t"                                                  \
                   "add sp, sp, #20\n\t"                                     \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}")

// The argument is in r0, as the procedure call standard says.
DSP_NAKED static void multiply_table_saturate(DSP_UNUSED dsp_block *block) {
  MULTIPLY(TABLE_CHANNEL, "");
}

DSP_NAKED static void multiply_table_clamp(DSP_UNUSED dsp_block *block) {
  MULTIPLY(TABLE_CHANNEL, CLAMP_ALL);
}

DSP_NAKED static void multiply_layer_saturate(DSP_UNUSED dsp_block *block) {
  MULTIPLY(LAYER_CHANNEL, "");
}

DSP_NAKED static void multiply_layer_clamp(DSP_UNUSED dsp_block *block) {
  MULTIPLY(LAYER_CHANNEL, CLAMP_ALL);
}
#endif

#if DSP_INSTRUCTIONS

// What a channel is, that the fast ways do not take: its output if that is the same for every input, else EXACT.
enum { FAST = 1 << 14, EXACT };
static int32_t kind_of_channel(const dsp_filters *filters, int32_t c) {
  const int32_t bias = filters->bias == NULL ? 0 : filters->bias[c];
  const int32_t multiplier = filters->multiplier[c], shift = filters->shift[c];
  if (dsp_is_fast(&filters->range, multiplier, shift, bias, filters->columns)) {
    return FAST;
  }
  const int64_t largest = (int64_t)255 * 128 * filters->columns;
  const int64_t least_sum = bias - largest, most_sum = bias + largest;
  if (multiplier < 0 || shift > 0 || least_sum < INT32_MIN || most_sum > INT32_MAX) {
    return EXACT;
  }
  // Outputs grow with their sums.
  const dsp_channel channel = { multiplier, 0, shift };
  const int32_t least = dsp_requantize(DSP_EXACT, &filters->range, channel, (int32_t)least_sum);
  const int32_t most = dsp_requantize(DSP_EXACT, &filters->range, channel, (int32_t)most_sum);
  return least == most ? least : EXACT;
}

// As dsp_prepare left it in the table, where there is room for it.
static int32_t kind_of(const dsp_filters *filters, const dsp_table *table, int32_t c) {
  if (!filters->some_exact) {
    return FAST;
  }
  if (table->is_filled) {
    return table->numbers[c].multiplier < 0 ? table->numbers[c].start : FAST;
  }
  return filters->channels <= DSP_TABLE_KINDS ? table->kinds[c] : kind_of_channel(filters, c);
}

static bool fits_table(const dsp_filters *filters) {
  for (int32_t c = 0; c < filters->channels; ++c) {
    const int32_t bias = filters->bias == NULL ? 0 : filters->bias[c];
    if (!dsp_fits_numbers(filters->shift[c], bias) && dsp_way_of(filters, c) != DSP_EXACT) {
      return false;
    }
  }
  return filters->channels <= DSP_TABLE_CHANNELS;
}

static void fill_table(const dsp_filters *filters, dsp_table *table) {
  table->is_filled = fits_table(filters);
  if (table->is_filled) {
    for (int32_t c = 0; c < filters->channels; ++c) {
      const int32_t kind = filters->some_exact ? kind_of_channel(filters, c) : FAST;
      const int32_t bias = filters->bias == NULL ? 0 : filters->bias[c];
      table->numbers[c] = kind == FAST ? dsp_make_numbers(filters->multiplier[c], filters->shift[c], bias)
                                       : (dsp_numbers){ kind, -1 };
    }
  } else if (filters->some_exact && filters->channels <= DSP_TABLE_KINDS) {
    for (int32_t c = 0; c < filters->channels; ++c) {
      table->kinds[c] = (int16_t)kind_of_channel(filters, c);
    }
  }
}

// A copy of the last channel's filter, if it does not fill its groups: behind it nothing may be loaded.
static void copy_last_filter(const dsp_filters *filters, dsp_table *table) {
  const int32_t columns = filters->columns;
  table->has_last = columns % DSP_GROUP_COLUMNS != 0 && columns <= (int32_t)sizeof table->last;
  if (table->has_last) {
    const int8_t *const filter = &filters->filter[(filters->channels - 1) * columns];
    for (int32_t i = 0; i < columns; ++i) {
      table->last[i] = filter[i];
    }
  }
}

// Channels from `first` up to, and without, `end`, an even number.
static void set_channels(const dsp_filters *filters, dsp_table *table, int32_t first, int32_t end) {
  table->first = first;
  if (table->is_filled) {
    table->first_numbers = dsp_address(&table->numbers[first]);
    table->block.numbers_end = dsp_address(&table->numbers[end]);
  } else {
    table->first_numbers = 4 * (uint32_t)first;
    table->block.numbers_end = 4 * (uint32_t)end;
  }
  table->filter = &filters->filter[first * filters->columns];
}

// All channels at once: if the last filter does not fill its groups, the last two with the copy of that.
static void prepare_plain(const dsp_filters *filters, dsp_table *table) {
  set_channels(filters, table, 0, filters->channels);
  table->first_end = table->block.numbers_end;
  table->last_apart = 0;
  if (table->has_last) {
    const int32_t before = filters->channels - 2;
    const int32_t apart = (int32_t)(dsp_address(table->last) - dsp_address(&filters->filter[before * filters->columns]));
    if (before == 0) {
      table->block.apart = apart;
      return;
    }
    table->block.last_end = table->first_end;
    table->last_apart = apart;
    set_channels(filters, table, 0, before);
    table->first_end = table->block.numbers_end;
  }
}

static void prepare_assembly(const dsp_filters *filters, dsp_table *table, const uint32_t *rows) {
  const int32_t groups = dsp_groups(filters->columns);
  const int32_t skipped = (UNROLLED_GROUPS - groups % UNROLLED_GROUPS) % UNROLLED_GROUPS;
  const bool saturates = filters->way == DSP_SATURATE;
  table->block = (dsp_block){
    .apart = filters->columns,
    .rows_end = dsp_address(rows + groups * DSP_GROUP_WORDS),
    .skipped_code_bytes = skipped * GROUP_CODE_BYTES,
    .rows = dsp_address(rows) - (uint32_t)(skipped * DSP_GROUP_WORDS) * (uint32_t)sizeof *rows,
    .filter_step = 2 * filters->columns - groups * DSP_GROUP_COLUMNS,
    .saturated_min = filters->range.saturated_min,
    .min = filters->range.min,
    .bias = filters->bias,
    .multiplier = filters->multiplier,
    .shift = filters->shift,
    .half_offset = filters->range.half_offset,
  };
  table->multiply = NULL;
  table->is_plain = false;
  if (filters->way == DSP_EXACT) {
    return;
  }
  copy_last_filter(filters, table);
  fill_table(filters, table);
  if (table->is_filled) {
    table->multiply = saturates ? multiply_table_saturate : multiply_table_clamp;
  } else if (filters->bias != NULL) {
    table->multiply = saturates ? multiply_layer_saturate : multiply_layer_clamp;
  }
  table->is_plain = table->multiply != NULL && !filters->some_exact && filters->channels % 2 == 0 &&
                    (filters->columns % DSP_GROUP_COLUMNS == 0 || table->has_last);
  if (table->is_plain) {
    prepare_plain(filters, table);
  }
}

// The last two channels, the second by the copy of its filter.
static void multiply_last_pair(const dsp_filters *filters, dsp_table *table) {
  const int32_t first = filters->channels - 2;
  set_channels(filters, table, first, filters->channels);
  table->block.apart = (int32_t)(dsp_address(table->last) - dsp_address(table->filter));
  dsp_multiply_block(table);
  table->block.apart = filters->columns;
}

static void multiply_pairs(const dsp_filters *filters, dsp_table *table, int32_t first, int32_t end) {
  if (first < end) {
    set_channels(filters, table, first, end);
    dsp_multiply_block(table);
  }
}

// Channels of which the first and the last are fast. What is stored for others is of no use.
static void multiply_run(const dsp_filters *filters, dsp_table *table, int32_t first, int32_t end,
                         int8_t *const *outputs) {
  // Behind the last filter nothing may be loaded.
  const bool has_short_last = end == filters->channels && filters->columns % DSP_GROUP_COLUMNS != 0;
  const int32_t least = filters->channels - 2;
  int32_t rest = end;
  if (has_short_last) {
    if (table->has_last && least >= 0) {
      multiply_last_pair(filters, table);
      rest = least > first ? least : first;
    } else {
      multiply_filter(filters, table, end - 1, outputs);
      rest = end - 1;
    }
  }
  const int32_t pairs_end = first + (rest - first) / 2 * 2;
  multiply_pairs(filters, table, first, pairs_end);
  if (pairs_end < rest) {
    // With the channel before it, or the one behind.
    if (pairs_end > 0) {
      multiply_pairs(filters, table, pairs_end - 1, pairs_end + 1);
    } else if (filters->channels > 2 || (filters->channels > 1 && filters->columns % DSP_GROUP_COLUMNS == 0)) {
      multiply_pairs(filters, table, pairs_end, pairs_end + 2);
    } else {
      multiply_filter(filters, table, pairs_end, outputs);
    }
  }
}

static void multiply_fast(const dsp_filters *filters, dsp_table *table, int8_t *const *outputs) {
  const int32_t channels = filters->channels;
  if (!filters->some_exact) {
    multiply_run(filters, table, 0, channels, outputs);
    return;
  }
  for (int32_t first = 0; first < channels;) {
    if (kind_of(filters, table, first) != FAST) {
      ++first;
      continue;
    }
    int32_t end = first + 1;
    while (end < channels) {
      if (kind_of(filters, table, end) == FAST) {
        ++end;
      } else if (end + 1 < channels && kind_of(filters, table, end + 1) == FAST) {
        // A pair takes no longer than a single channel.
        end += 2;
      } else {
        break;
      }
    }
    multiply_run(filters, table, first, end, outputs);
    first = end;
  }
}

// After the fast channels, which may store where these are.
static void store_others(const dsp_filters *filters, const dsp_table *table, int8_t *const *outputs) {
  for (int32_t c = 0; c < filters->channels; ++c) {
    const int32_t kind = kind_of(filters, table, c);
    if (kind == EXACT) {
      multiply_filter(filters, table, c, outputs);
    } else if (kind != FAST) {
      for (int32_t i = 0; i < DSP_ROWS; ++i) {
        outputs[i][c] = (int8_t)kind;
      }
    }
  }
}
#endif

void dsp_prepare(const dsp_filters *filters, dsp_table *table, uint32_t *rows) {
  table->rows = rows;
#if DSP_INSTRUCTIONS
  prepare_assembly(filters, table, rows);
#else
  (void)filters;
#endif
}

void dsp_multiply_pixels(const dsp_filters *filters, dsp_table *table, int8_t *const *outputs) {
#if DSP_INSTRUCTIONS
  if (table->multiply != NULL) {
    table->output = outputs[0];
    table->block.step1 = outputs[1] - outputs[0];
    table->block.step2 = outputs[2] - outputs[1];
    table->block.step3 = outputs[3] - outputs[2];
    multiply_fast(filters, table, outputs);
    if (filters->some_exact) {
      store_others(filters, table, outputs);
    }
    return;
  }
#endif
  for (int32_t c = 0; c < filters->channels; ++c) {
    multiply_filter(filters, table, c, outputs);
  }
}
