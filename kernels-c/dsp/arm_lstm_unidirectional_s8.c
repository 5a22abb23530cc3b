// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_lstm_rows.h"
#include "dsp_ratio.h"
#include "dsp_vector.h"
#include "dsp_wide.h"

// A product of two numbers of 8 bits is at most 2^14.
enum { MOST_COLUMNS = 1 << 15, LARGEST_PRODUCT = 1 << 14 };

// The scale is a dsp_ratio with a division, and sums are at most 2^30.
static bool is_fast(const dsp_lstm_matrix *matrix, int32_t rows) {
  if (!dsp_has_ratio(matrix->multiplier, matrix->shift) || matrix->shift == 0 ||
      matrix->columns > MOST_COLUMNS) {
    return false;
  }
  const int32_t most = (1 << 30) - LARGEST_PRODUCT * matrix->columns;
  const int32_t *bias = matrix->bias;
  bool are_small = true;
  for (int32_t left = rows; left > 0; --left) {
    are_small &= (uint32_t)*bias + (uint32_t)most <= 2 * (uint32_t)most;
    ++bias;
  }
  return are_small;
}

#if DSP_INSTRUCTIONS

#define LOAD_BIASES "ldm r10!, {r4, r5, r6, r7}\n\t"
#define LOAD_GROUP                  \
  "ldr.w r9, [r0], #4\n\t"          \
  "sxtb16 r8, r9\n\t"               \
  "sxtb16 r9, r9, ror #8\n\t"
#define LOAD_COLUMN "ldrsb r8, [r0], #1\n\t"
// As dsp_apply_ratio.
#define REQUANTIZE(sum)                     \
  "add r11, r1, " sum ", asr #31\n\t"       \
  "add r11, r11, " sum "\n\t"               \
  "smmlar " sum ", " sum ", r0, r11\n\t"    \
  "asr " sum ", " sum ", r8\n\t"

// The argument is in r0, as the procedure call standard says.
DSP_NAKED static void multiply_blocks(DSP_UNUSED dsp_lstm_block *block) {
  __asm__ volatile(DSP_LSTM_ROWS(LOAD_BIASES, LOAD_GROUP, LOAD_COLUMN, "4", REQUANTIZE));
}

// Whole blocks.
static void multiply_whole(const dsp_lstm_matrix *matrix, const int8_t *vector, int32_t first, int32_t end, bool adds,
                           int16_t *values) {
  const int32_t *const bias = matrix->bias;
  dsp_lstm_block block = dsp_make_lstm_block(matrix, vector, 1, &bias[first], first, end, adds, values);
  const dsp_ratio ratio = dsp_make_ratio(matrix->multiplier, matrix->shift);
  block.multiplier = ratio.doubled;
  block.half = ratio.half;
  block.right = ratio.right;
  multiply_blocks(&block);
}

#endif

// The sums of two rows, which may be one and the same.
static dsp_sums multiply_pair(const int8_t *vector, const int8_t *row0, const int8_t *row1, int32_t columns,
                              int32_t bias0, int32_t bias1) {
  dsp_sums sums = { bias0, bias1, 0, 0 };
  for (; columns >= 4; columns -= 4) {
    const uint32_t four = dsp_load4(vector), four0 = dsp_load4(row0), four1 = dsp_load4(row1);
    const uint32_t even = dsp_even(four), odd = dsp_odd(four);
    sums.row0 = dsp_multiply_pairs(even, dsp_even(four0), sums.row0);
    sums.row0 = dsp_multiply_pairs(odd, dsp_odd(four0), sums.row0);
    sums.row1 = dsp_multiply_pairs(even, dsp_even(four1), sums.row1);
    sums.row1 = dsp_multiply_pairs(odd, dsp_odd(four1), sums.row1);
    vector += 4;
    row0 += 4;
    row1 += 4;
  }
  for (; columns > 0; --columns) {
    const int32_t value = *vector++;
    sums.row0 += value * *row0++;
    sums.row1 += value * *row1++;
  }
  return sums;
}

// The sums of up to four rows.
static dsp_sums multiply_rows(const int8_t *vector, const int8_t *weights, int32_t columns, int32_t rows,
                              const int32_t *bias) {
  if (rows <= 2) {
    const int32_t second = rows - 1;
    return multiply_pair(vector, weights, weights + second * columns, columns, bias[0], bias[second]);
  }
  return dsp_multiply_vector(vector, 0, weights, rows, 0, columns, dsp_bias_vector(bias, rows));
}

// Any number of rows, by any scale.
static void multiply_some(const dsp_lstm_matrix *matrix, const int8_t *vector, int32_t first, int32_t end, bool adds,
                          int16_t *values) {
  const int32_t *const bias = matrix->bias;
  const int32_t columns = matrix->columns;
  const dsp_ratio ratio = dsp_make_ratio(matrix->is_fast ? matrix->multiplier : 0, matrix->is_fast ? matrix->shift : 0);
  for (int32_t row = first; row < end; row += 4) {
    const int32_t rows = end - row < 4 ? end - row : 4;
    const dsp_sums sums = multiply_rows(vector, &matrix->weights[row * columns], columns, rows, &bias[row]);
    const int32_t sum[4] = { sums.row0, sums.row1, sums.row2, sums.row3 };
    for (int32_t i = 0; i < rows; ++i) {
      const int32_t product = matrix->is_fast ? dsp_apply_ratio(&ratio, sum[i])
                                              : dmo_requantize(sum[i], matrix->multiplier, matrix->shift);
      values[row + i] = (int16_t)dsp_saturate_half(dsp_saturating_add(product, adds ? values[row + i] : 0));
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
  multiply_some(matrix, vector, first, end, adds, values);
}

void dsp_run_lstm_s8(const cmsis_nn_lstm_params *params, const cmsis_nn_lstm_context *buffers, void *hidden_state,
                     const int8_t *input, int8_t *output) {
  static const dsp_lstm_kind kind = { 1, is_fast, multiply };
  dsp_run_lstm(&kind, params, buffers, hidden_state, input, output);
}

arm_cmsis_nn_status arm_lstm_unidirectional_s8(const int8_t *input, int8_t *output, const cmsis_nn_lstm_params *params,
                                               cmsis_nn_lstm_context *buffers) {
  dsp_run_lstm_s8(params, buffers, dsp_hidden_state(buffers), input, output);
  return ARM_CMSIS_NN_SUCCESS;
}
