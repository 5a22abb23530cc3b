// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_vector_int4.h"
#include "dsp_int4.h"
#include "dsp_vector.h"

// Weights 0 and 4 of eight, and 1 and 5, 2 and 6, 3 and 7 after a shift.
static const uint32_t pair_mask = 0x000f000fu;

// A row with its offset, and the place of its first weight in a filter.
typedef struct {
  const int8_t *row;
  int32_t columns;
  uint32_t offsets;
  const int8_t *packed;
} int4_row;

// Eight weights from `first` on, raised, by the columns of a row.
DSP_INLINE int32_t add_eight(const int4_row *row, int32_t first, uint32_t columns04, uint32_t columns15,
                             uint32_t columns26, uint32_t columns37, int32_t sum) {
  const uint32_t weights = dsp_raise8(dsp_load_int4x8(row->packed, first));
  sum = dsp_multiply_pairs(columns04, weights & pair_mask, sum);
  sum = dsp_multiply_pairs(columns15, weights >> 4 & pair_mask, sum);
  sum = dsp_multiply_pairs(columns26, weights >> 8 & pair_mask, sum);
  return dsp_multiply_pairs(columns37, weights >> 12 & pair_mask, sum);
}

// And four.
DSP_INLINE int32_t add_four(const int4_row *row, int32_t first, uint32_t even, uint32_t odd, int32_t sum) {
  const uint32_t weights = dsp_raise8(dsp_load_int4x4(row->packed, first)) & 0xffffu;
  const uint32_t twice = weights | weights << 8;
  return dsp_multiply_pairs(odd, twice >> 4 & pair_mask, dsp_multiply_pairs(even, twice & pair_mask, sum));
}

// Adds row * raised weights to two sums, or to the first: two filters from weights `first` and `other` on, for the
// columns from `column` on.
DSP_INLINE void multiply_filters_of(const int4_row *row, int32_t first, int32_t other, int32_t column, bool is_pair,
                                    int32_t *sums) {
  const uint32_t offsets = row->offsets;
  int32_t sum0 = sums[0], sum1 = is_pair ? sums[1] : 0;
  for (; column + 8 <= row->columns; column += 8) {
    const uint32_t bytes0 = dsp_load4(&row->row[column]), bytes1 = dsp_load4(&row->row[column + 4]);
    const uint32_t even0 = dsp_add_even(offsets, bytes0), odd0 = dsp_add_odd(offsets, bytes0);
    const uint32_t even1 = dsp_add_even(offsets, bytes1), odd1 = dsp_add_odd(offsets, bytes1);
    const uint32_t columns04 = dsp_lows(even0, even1), columns15 = dsp_lows(odd0, odd1);
    const uint32_t columns26 = dsp_highs(even0, even1), columns37 = dsp_highs(odd0, odd1);
    sum0 = add_eight(row, first + column, columns04, columns15, columns26, columns37, sum0);
    if (is_pair) {
      sum1 = add_eight(row, other + column, columns04, columns15, columns26, columns37, sum1);
    }
  }
  if (column + 4 <= row->columns) {
    const uint32_t bytes = dsp_load4(&row->row[column]);
    const uint32_t even = dsp_add_even(offsets, bytes), odd = dsp_add_odd(offsets, bytes);
    sum0 = add_four(row, first + column, even, odd, sum0);
    if (is_pair) {
      sum1 = add_four(row, other + column, even, odd, sum1);
    }
    column += 4;
  }
  for (; column < row->columns; ++column) {
    const int32_t value = row->row[column] + dsp_low(offsets);
    sum0 += value * (dsp_int4_at(row->packed, first + column) + 8);
    if (is_pair) {
      sum1 += value * (dsp_int4_at(row->packed, other + column) + 8);
    }
  }
  sums[0] = sum0;
  if (is_pair) {
    sums[1] = sum1;
  }
}

DSP_OUT_OF_LINE static void multiply_one(const int4_row *row, int32_t first, int32_t column, int32_t *sums) {
  multiply_filters_of(row, first, first, column, false, sums);
}

DSP_OUT_OF_LINE static void multiply_two(const int4_row *row, int32_t first, int32_t column, int32_t *sums) {
  multiply_filters_of(row, first, first + row->columns, column, true, sums);
}

#if DSP_INSTRUCTIONS

// The stack holds the offsets and the end of the row.
//
//   r0 row   r1 first filter   r2 whole bytes of a filter   r3 pair_mask   r4 to r7 sums   r11, r12 temporary
//   r8, r9, lr, r10 columns of the row: 0 and 4, 1 and 5, 2 and 6, 3 and 7
#define ADD_WEIGHTS(sum)                \
  "eor r12, r12, #0x88888888\n\t"       \
  "and r11, r3, r12\n\t"                \
  "smlad " sum ", r8, r11, " sum "\n\t"  \
  "and r11, r3, r12, lsr #4\n\t"        \
  "smlad " sum ", r9, r11, " sum "\n\t"  \
  "and r11, r3, r12, lsr #8\n\t"        \
  "smlad " sum ", lr, r11, " sum "\n\t"  \
  "and r11, r3, r12, lsr #12\n\t"       \
  "smlad " sum ", r10, r11, " sum "\n\t"
// Filters of an even number of weights, and of an odd one, where every second begins within a byte.
#define EVEN_FILTERS                    \
  "ldr r12, [r1]\n\t"                   \
  ADD_WEIGHTS("r4")                     \
  "ldr r12, [r1, r2]\n\t"               \
  ADD_WEIGHTS("r5")                     \
  "ldr r12, [r1, r2, lsl #1]\n\t"       \
  "add r1, r1, r2\n\t"                  \
  ADD_WEIGHTS("r6")                     \
  "ldr r12, [r1, r2, lsl #1]\n\t"       \
  "sub r1, r1, r2\n\t"                  \
  ADD_WEIGHTS("r7")
#define LOAD_WITHIN                     \
  "ldrb r11, [r11, #4]\n\t"             \
  "lsr r12, r12, #4\n\t"                \
  "orr r12, r12, r11, lsl #28\n\t"
#define ODD_FILTERS                     \
  "ldr r12, [r1]\n\t"                   \
  ADD_WEIGHTS("r4")                     \
  "add r11, r1, r2\n\t"                 \
  "ldr r12, [r11]\n\t"                  \
  LOAD_WITHIN                           \
  ADD_WEIGHTS("r5")                     \
  "add r11, r1, r2, lsl #1\n\t"         \
  "ldr r12, [r11, #1]\n\t"              \
  ADD_WEIGHTS("r6")                     \
  "add r11, r1, r2, lsl #1\n\t"         \
  "add r11, r11, r2\n\t"                \
  "ldr r12, [r11, #1]!\n\t"             \
  LOAD_WITHIN                           \
  ADD_WEIGHTS("r7")
#define MULTIPLY(filters)                                                 \
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"      \
                   "ldrd r8, r9, [sp, #36]\n\t"                           \
                   "push {r3, r8}\n\t"                                    \
                   "ldm r9, {r4, r5, r6, r7}\n\t"                         \
                   "mov r3, #0x000f000f\n\t"                              \
                   ".balign 4\n"                                          \
                   "1:\n\t"                                               \
                   "ldr r11, [sp]\n\t"                                    \
                   "ldr r12, [r0], #4\n\t"                                \
                   "ldr lr, [r0], #4\n\t"                                 \
                   "sxtab16 r8, r11, r12\n\t"                             \
                   "sxtab16 r9, r11, r12, ror #8\n\t"                     \
                   "sxtab16 r10, r11, lr\n\t"                             \
                   "sxtab16 r11, r11, lr, ror #8\n\t"                     \
                   "pkhtb lr, r10, r8, asr #16\n\t"                       \
                   "pkhbt r8, r8, r10, lsl #16\n\t"                       \
                   "pkhtb r10, r11, r9, asr #16\n\t"                      \
                   "pkhbt r9, r9, r11, lsl #16\n\t"                       \
                   filters                                                \
                   "ldr r11, [sp, #4]\n\t"                                \
                   "adds r1, r1, #4\n\t"                                  \
                   "cmp r0, r11\n\t"                                      \
                   "bne.w 1b\n\t"                                         \
                   "ldr r9, [sp, #48]\n\t"                                \
                   "stm r9, {r4, r5, r6, r7}\n\t"                         \
                   "add sp, sp, #8\n\t"                                   \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}")

// Adds row * raised weights of four filters, `bytes` whole bytes long, to four sums; the first filter begins with a
// byte. Two arguments are on the stack, as the procedure call standard says. The row is not empty.
DSP_NAKED static void multiply_even(DSP_UNUSED const int8_t *row, DSP_UNUSED const int8_t *filter,
                                    DSP_UNUSED int32_t bytes, DSP_UNUSED uint32_t offsets,
                                    DSP_UNUSED const int8_t *row_end, DSP_UNUSED int32_t *sums) {
  MULTIPLY(EVEN_FILTERS);
}

DSP_NAKED static void multiply_odd(DSP_UNUSED const int8_t *row, DSP_UNUSED const int8_t *filter,
                                   DSP_UNUSED int32_t bytes, DSP_UNUSED uint32_t offsets,
                                   DSP_UNUSED const int8_t *row_end, DSP_UNUSED int32_t *sums) {
  MULTIPLY(ODD_FILTERS);
}

#endif

// The sums of up to four filters, the first of which begins with a byte.
static void multiply_filters(const int4_row *row, int32_t filter, int32_t count, int32_t *sums) {
  const int32_t columns = row->columns;
  int32_t done = 0;
#if DSP_INSTRUCTIONS
  done = columns & ~7;
  if (count == 4 && done != 0) {
    (columns % 2 == 0 ? multiply_even : multiply_odd)(row->row, &row->packed[filter * columns / 2], columns / 2,
                                                      row->offsets, row->row + done, sums);
  } else {
    done = 0;
  }
  if (done == columns) {
    return;
  }
#endif
  int32_t i = 0;
  for (; i + 2 <= count; i += 2) {
    multiply_two(row, (filter + i) * columns, done, &sums[i]);
  }
  if (i < count) {
    multiply_one(row, (filter + i) * columns, done, &sums[i]);
  }
}

static int32_t sum_of(const int4_row *row) {
  const uint32_t ones = dsp_pair(1, 1);
  int32_t sum = 0, i = 0;
  for (; i + 4 <= row->columns; i += 4) {
    const uint32_t four = dsp_load4(&row->row[i]);
    sum = dsp_multiply_pairs(dsp_even(four), ones, sum);
    sum = dsp_multiply_pairs(dsp_odd(four), ones, sum);
  }
  for (; i < row->columns; ++i) {
    sum += row->row[i];
  }
  return sum + row->columns * dsp_low(row->offsets);
}

// Outputs from `first` on, of which the first `skipped` are there already.
static void store_block(const dsp_matrix *matrix, const int4_row *row, const dsp_range *range, int32_t start,
                        int32_t first, int32_t count, int32_t skipped, int8_t *output) {
  const int32_t step = matrix->step;
  int32_t sums[4] = { start, start, start, start };
  for (int32_t i = 0; matrix->bias != NULL && i < count; ++i) {
    sums[i] += matrix->bias[first + i];
  }
  multiply_filters(row, first, count, sums);
  // Outputs that share a scale are requantised by four, though they be two or three.
  const uint32_t word = dsp_requantize_vector(range, (dsp_sums){ sums[0], sums[1], sums[2], sums[3] },
                                              step == 0 && count > 1 ? 4 : count, &matrix->multiplier[first * step],
                                              &matrix->shift[first * step], step);
  dsp_store_vector(&output[first + skipped], word >> (8 * skipped), count - skipped);
}

void dsp_multiply_int4_matrix(const dsp_matrix *matrix, const int8_t *input, int32_t outputs, int8_t *output) {
  const cmsis_nn_fc_params *const params = matrix->params;
  const dsp_range range = dsp_make_range(params->output_offset, params->activation.min, params->activation.max);
  const int4_row row = { input, matrix->inputs, dsp_pair(params->input_offset, params->input_offset), matrix->filter };
  const int32_t start = (params->filter_offset - 8) * sum_of(&row);
  int32_t first = 0;
  for (; first + 4 <= outputs; first += 4) {
    store_block(matrix, &row, &range, start, first, 4, 0, output);
  }
  if (first != outputs) {
    // With outputs before them, if the four filters begin with a byte.
    const int32_t before = outputs - 4;
    if (before >= 0 && before * matrix->inputs % 2 == 0) {
      store_block(matrix, &row, &range, start, before, 4, first - before, output);
    } else {
      store_block(matrix, &row, &range, start, first, outputs - first, 0, output);
    }
  }
}
