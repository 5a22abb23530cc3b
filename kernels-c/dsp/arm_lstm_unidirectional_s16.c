// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_lstm_rows.h"
#include "dsp_wide.h"

// Columns whose sums fit in 32 bits.
enum { MOST_COLUMNS = DSP_WIDE_PRODUCTS };

// dsp_requantize_fast takes the scale and the sums.
static bool is_fast(const dsp_lstm_matrix *matrix, int32_t rows) {
  const dsp_scales scales = dsp_make_scales(&matrix->multiplier, &matrix->shift, matrix->bias, INT16_MIN, INT16_MAX);
  return dsp_are_fast(&scales, rows, true, matrix->columns);
}

#if DSP_INSTRUCTIONS

// The low words of four biases.
#define LOAD_BIASES                 \
  "ldr r5, [r10, #8]\n\t"           \
  "ldr r6, [r10, #16]\n\t"          \
  "ldr r7, [r10, #24]\n\t"          \
  "ldr r4, [r10], #32\n\t"
#define LOAD_GROUP                          \
  "ldr.w r10, [r0, #4]\n\t"                 \
  "ldr.w r8, [r0], #8\n\t"                  \
  "pkhtb r9, r10, r8, asr #16\n\t"          \
  "pkhbt r8, r8, r10, lsl #16\n\t"
#define LOAD_COLUMN "ldrsh r8, [r0], #2\n\t"
// As dsp_requantize_fast.
#define REQUANTIZE(sum)                     \
  "smmla " sum ", " sum ", r0, r1\n\t"      \
  "asr " sum ", " sum ", r8\n\t"

// The argument is in r0, as the procedure call standard says.
DSP_NAKED static void multiply_blocks(DSP_UNUSED dsp_lstm_block *block) {
  __asm__ volatile(DSP_LSTM_ROWS(LOAD_BIASES, LOAD_GROUP, LOAD_COLUMN, "8", REQUANTIZE));
}

// Whole blocks.
static void multiply_whole(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first, int32_t end, bool adds,
                           int16_t *values) {
  const int64_t *const bias = matrix->bias;
  const dsp_scales scales = dsp_make_scales(&matrix->multiplier, &matrix->shift, bias, INT16_MIN, INT16_MAX);
  dsp_lstm_block block = dsp_make_lstm_block(matrix, vector, 2, &bias[first], first, end, adds, values);
  const dsp_wide_channel channel = dsp_make_wide(&scales);
  block.multiplier = channel.leading;
  block.half = channel.half;
  block.right = channel.right;
  multiply_blocks(&block);
}

// Adds to four sums the groups of four columns up to an end, at least one.
//
// Registers as in dsp_lstm_rows.h. The last argument is on the stack, as the procedure call standard says.
DSP_NAKED static void multiply_groups(DSP_UNUSED const int16_t *vector, DSP_UNUSED const int16_t *end,
                                      DSP_UNUSED const int8_t *weights, DSP_UNUSED int32_t apart,
                                      DSP_UNUSED int32_t *sums) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldr r12, [sp, #36]\n\t"
                   "ldm r12, {r4, r5, r6, r7}\n\t"
                   "add r12, r2, r3, lsl #1\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   DSP_LSTM_GROUP(LOAD_GROUP)
                   "cmp r0, r1\n\t"
                   "bne.w 1b\n\t"
                   "ldr r12, [sp, #36]\n\t"
                   "stm r12, {r4, r5, r6, r7}\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#endif

// Adds to the sums of up to four rows at most MOST_COLUMNS columns.
static void multiply_columns(const int16_t *vector, const int8_t *weights, int32_t apart, int32_t columns, int32_t rows,
                             int64_t *sums) {
  int32_t sum[4] = { 0, 0, 0, 0 }, grouped = 0;
#if DSP_INSTRUCTIONS
  if (rows == 4 && columns >= 4) {
    grouped = columns & ~3;
    multiply_groups(vector, vector + grouped, weights, apart, sum);
  }
#endif
  for (int32_t k = 0; k < rows; ++k) {
    for (int32_t i = grouped; i < columns; ++i) {
      sum[k] += vector[i] * weights[i];
    }
    weights += apart;
    sums[k] += sum[k];
  }
}

// Any number of rows, by any scale.
static void multiply_exactly(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first, int32_t end,
                             bool adds, int16_t *values) {
  const int64_t *const bias = matrix->bias;
  const int32_t columns = matrix->columns;
  for (int32_t row = first; row < end; row += 4) {
    const int32_t rows = end - row < 4 ? end - row : 4;
    int64_t sums[4] = { 0, 0, 0, 0 };
    for (int32_t i = 0; i < columns; i += MOST_COLUMNS) {
      const int32_t block = columns - i < MOST_COLUMNS ? columns - i : MOST_COLUMNS;
      multiply_columns(&vector[i], &matrix->weights[row * columns + i], columns, block, rows, sums);
    }
    for (int32_t k = 0; k < rows; ++k) {
      const int32_t product = dsp_requantize_wide_exactly(sums[k] + bias[row + k], matrix->multiplier, matrix->shift);
      values[row + k] = (int16_t)dsp_saturate_half(dsp_saturating_add(product, adds ? values[row + k] : 0));
    }
  }
}

static void multiply(const dsp_lstm_matrix *matrix, const void *vector, int32_t first, int32_t end, bool adds,
                     int16_t *values) {
#if DSP_INSTRUCTIONS
  if (matrix->is_fast && end - first >= 4) {
    multiply_whole(matrix, vector, first, end, adds, values);
    return;
  }
#endif
  (matrix->is_fast ? dsp_multiply_few_s16 : multiply_exactly)(matrix, vector, first, end, adds, values);
}

void dsp_run_lstm_s16(const cmsis_nn_lstm_params *params, const cmsis_nn_lstm_context *buffers, void *hidden_state,
                      const int16_t *input, int16_t *output) {
  static const dsp_lstm_kind kind = { 2, is_fast, multiply };
  dsp_run_lstm(&kind, params, buffers, hidden_state, input, output);
}

arm_cmsis_nn_status arm_lstm_unidirectional_s16(const int16_t *input, int16_t *output,
                                                const cmsis_nn_lstm_params *params, cmsis_nn_lstm_context *buffers) {
  dsp_run_lstm_s16(params, buffers, dsp_hidden_state(buffers), input, output);
  return ARM_CMSIS_NN_SUCCESS;
}
