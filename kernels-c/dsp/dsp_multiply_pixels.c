// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_multiply.h"

static void fill_table(const dsp_filters *filters, dsp_table *table, int32_t first) {
  const int32_t rest = filters->channels - first;
  const int32_t count = rest < DSP_TABLE_CHANNELS ? rest : DSP_TABLE_CHANNELS;
  table->first = first;
  table->count = count;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t c = first + i;
    const int32_t bias = filters->bias == NULL ? 0 : filters->bias[c];
    const dsp_channel channel =
        dsp_make_channel(filters->way, &filters->range, filters->multiplier[c], filters->shift[c]);
    table->start[i] = filters->way == DSP_EXACT ? bias : 2 * bias;
    table->multiplier[i] = channel.multiplier;
    table->bias[i] = channel.bias;
    table->shift[i] = channel.shift;
  }
}

#if DSP_INSTRUCTIONS

// Four pixels by many channels, in the fast ways; whole groups only. By hand, because it takes every register
// and a compiler keeps much of this on the stack.
//
// The stack holds rows, groups and the end of starts, which each channel needs anew, and saturated_min and min.
//
// The numbers of a channel come from the table; or, for more channels than it holds, from where the layer has them,
// which takes three instructions more: then the word in place of the biases' end is half_offset of dsp_range.
//
//   r0 rows, then temporary   r1 groups, then multiplier   r3 to r6 columns, then bias, shift and outputs
//   r7, r8 columns of the filter, then outputs             r9, r10, r11, r2 sums, then values
//   r12 filter                lr channel, from -channels up to 0
#define MULTIPLY_GROUP(sum0, sum1, sum2, sum3, start0, start1, start2, start3) \
  "ldr r7, [r12], #4\n\t"                                                      \
  "ldmia r0!, {r3, r4, r5, r6}\n\t"                                            \
  "sxtb16 r8, r7, ror #8\n\t"                                                  \
  "sxtb16 r7, r7\n\t"                                                          \
  "smlad " sum0 ", r3, r7, " start0 "\n\t"                                     \
  "smlad " sum1 ", r5, r7, " start1 "\n\t"                                     \
  "smlad " sum0 ", r4, r8, " sum0 "\n\t"                                       \
  "smlad " sum1 ", r6, r8, " sum1 "\n\t"                                       \
  "ldmia r0!, {r3, r4, r5, r6}\n\t"                                            \
  "subs r1, r1, #1\n\t"                                                        \
  "smlad " sum2 ", r3, r7, " start2 "\n\t"                                     \
  "smlad " sum3 ", r5, r7, " start3 "\n\t"                                     \
  "smlad " sum2 ", r4, r8, " sum2 "\n\t"                                       \
  "smlad " sum3 ", r6, r8, " sum3 "\n\t"
#define REQUANTIZE(sum)               \
  "add r0, r3, " sum ", asr #31\n\t"  \
  "smmlar " sum ", " sum ", r1, r0\n\t" \
  "asr " sum ", " sum ", r4\n\t"      \
  "ssat " sum ", #8, " sum "\n\t"
#define CLAMP(value)                  \
  "sub " value ", " value ", r0\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r1\n\t"
#define CLAMP_ALL "ldrd r0, r1, [sp, #12]\n\t" CLAMP("r9") CLAMP("r10") CLAMP("r11") CLAMP("r2")
#define TABLE_START "ldr r2, [r2, lr, lsl #2]\n\t"
#define TABLE_CHANNEL             \
  "ldr r1, [r1, lr, lsl #2]\n\t" \
  "ldr r3, [r3, lr, lsl #2]\n\t" \
  "ldr r4, [r4, lr, lsl #2]\n\t"
#define LAYER_START "ldr r2, [r2, lr, lsl #2]\n\tlsl r2, r2, #1\n\t"
#define LAYER_CHANNEL             \
  "ldr r1, [r1, lr, lsl #2]\n\t" \
  "ldr r4, [r4, lr, lsl #2]\n\t" \
  "mvn r0, r4\n\t"               \
  "lsl r3, r3, r0\n\t"           \
  "rsb r4, r4, #0\n\t"
#define MULTIPLY(load_start, load_channel, clamp)                                     \
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"                  \
                   "ldm r0, {r1, r2, r3, r4, r5, r12, lr}\n\t"                       \
                   "push {r1, r2, r3, r4, r5}\n"                                     \
                   "1:\n\t"                                                           \
                   "ldm sp, {r0, r1, r2}\n\t"                                        \
                   load_start                                                         \
                   MULTIPLY_GROUP("r9", "r10", "r11", "r2", "r2", "r2", "r2", "r2")   \
                   "beq 3f\n"                                                         \
                   "2:\n\t"                                                           \
                   MULTIPLY_GROUP("r9", "r10", "r11", "r2", "r9", "r10", "r11", "r2") \
                   "bne 2b\n"                                                         \
                   "3:\n\t"                                                           \
                   "ldm r0, {r1, r3, r4, r5, r6, r7, r8}\n\t"                         \
                   load_channel                                                       \
                   REQUANTIZE("r9") REQUANTIZE("r10")                                 \
                   REQUANTIZE("r11") REQUANTIZE("r2")                                 \
                   clamp                                                              \
                   "strb r9, [r5, lr]\n\t"                                            \
                   "strb r10, [r6, lr]\n\t"                                           \
                   "strb r11, [r7, lr]\n\t"                                           \
                   "strb r2, [r8, lr]\n\t"                                            \
                   "adds lr, lr, #1\n\t"                                              \
                   "bne 1b\n\t"                                                       \
                   "add sp, sp, #20\n\t"                                              \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}")

// The argument is in r0, as the procedure call standard says.
DSP_NAKED static void multiply_table_saturate(DSP_UNUSED const dsp_table *table) {
  MULTIPLY(TABLE_START, TABLE_CHANNEL, "");
}

DSP_NAKED static void multiply_table_clamp(DSP_UNUSED const dsp_table *table) {
  MULTIPLY(TABLE_START, TABLE_CHANNEL, CLAMP_ALL);
}

DSP_NAKED static void multiply_layer_saturate(DSP_UNUSED const dsp_table *table) {
  MULTIPLY(LAYER_START, LAYER_CHANNEL, "");
}

DSP_NAKED static void multiply_layer_clamp(DSP_UNUSED const dsp_table *table) {
  MULTIPLY(LAYER_START, LAYER_CHANNEL, CLAMP_ALL);
}

static void prepare_assembly(const dsp_filters *filters, dsp_table *table) {
  const bool saturates = filters->way == DSP_SATURATE;
  if (filters->way == DSP_EXACT || filters->columns % DSP_GROUP_COLUMNS != 0) {
    return;
  }
  if (table->count == filters->channels) {
    uint32_t *const tail = table->rows + table->groups * DSP_GROUP_WORDS;
    tail[0] = dsp_address(&table->multiplier[table->count]);
    tail[1] = dsp_address(&table->bias[table->count]);
    tail[2] = dsp_address(&table->shift[table->count]);
    table->multiply = saturates ? multiply_table_saturate : multiply_table_clamp;
  } else if (filters->bias != NULL) {
    uint32_t *const tail = table->rows + table->groups * DSP_GROUP_WORDS;
    tail[0] = dsp_address(&filters->multiplier[filters->channels]);
    tail[1] = (uint32_t)filters->range.half_offset;
    tail[2] = dsp_address(&filters->shift[filters->channels]);
    table->start_end = &filters->bias[filters->channels];
    table->minus_count = -filters->channels;
    table->multiply = saturates ? multiply_layer_saturate : multiply_layer_clamp;
  }
}
#endif

void dsp_prepare(const dsp_filters *filters, dsp_table *table, uint32_t *rows) {
  table->rows = rows;
  table->groups = dsp_groups(filters->columns);
  table->saturated_min = filters->range.saturated_min;
  table->min = filters->range.min;
  table->filter = filters->filter;
  table->multiply = NULL;
  table->output_ends = rows + table->groups * DSP_GROUP_WORDS + DSP_TAIL_ENDS;
  fill_table(filters, table, 0);
  table->start_end = &table->start[table->count];
  table->minus_count = -table->count;
#if DSP_INSTRUCTIONS
  prepare_assembly(filters, table);
#endif
}

// The same in C, for any number of columns and pixels, in any way.
static void multiply_table_any(const dsp_filters *filters, const dsp_table *table, int32_t pixels, int8_t *output,
                               int32_t pixel_bytes) {
  const int32_t columns = filters->columns;
  const uint32_t *const rows = table->rows;
  const int8_t *filter = filters->filter + table->first * columns;
  int8_t *out = output + table->first;
  for (int32_t i = 0; i < table->count; ++i) {
    const int32_t start = table->start[i];
    const dsp_sums sums = dsp_multiply(rows, filter, columns, (dsp_sums){ start, start, start, start });
    const dsp_channel channel = { table->multiplier[i], table->bias[i], table->shift[i] };
    out[0] = (int8_t)dsp_requantize(filters->way, &filters->range, channel, sums.row0);
    if (pixels > 1) {
      out[pixel_bytes] = (int8_t)dsp_requantize(filters->way, &filters->range, channel, sums.row1);
    }
    if (pixels > 2) {
      out[2 * pixel_bytes] = (int8_t)dsp_requantize(filters->way, &filters->range, channel, sums.row2);
    }
    if (pixels > 3) {
      out[3 * pixel_bytes] = (int8_t)dsp_requantize(filters->way, &filters->range, channel, sums.row3);
    }
    filter += columns;
    ++out;
  }
}

void dsp_multiply_some_pixels(const dsp_filters *filters, dsp_table *table, int32_t pixels, int8_t *output,
                              int32_t pixel_bytes) {
  int32_t first = 0;
  while (first < filters->channels) {
    if (table->first != first) {
      fill_table(filters, table, first);
    }
    multiply_table_any(filters, table, pixels, output, pixel_bytes);
    first += table->count;
  }
}
