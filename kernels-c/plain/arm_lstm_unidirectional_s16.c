// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_lstm.h"
#include "dsp_wide.h"
#include "plain_rows.h"

// dsp_requantize_fast takes the scale and the sums, which are of one block of columns.
static bool is_fast(const dsp_lstm_matrix *matrix, int32_t rows) {
  const dsp_scales scales = dsp_make_scales(&matrix->multiplier, &matrix->shift, matrix->bias, INT16_MIN, INT16_MAX);
  return dsp_are_fast(&scales, rows, true, matrix->columns);
}

// The sums of up to four rows, without their biases, by blocks of columns whose sums fit in 32 bits.
static void add_blocks(const int16_t *vector, const int8_t *weights, int32_t columns, int32_t count, int64_t *sums) {
  for (int32_t i = 0; i < columns; i += DSP_WIDE_PRODUCTS) {
    const int32_t block = columns - i < DSP_WIDE_PRODUCTS ? columns - i : DSP_WIDE_PRODUCTS;
    plain_rows rows = plain_make_rows(&vector[i + block], &weights[i], block, columns, count);
    plain_multiply_rows_s16(&rows);
    for (int32_t k = 0; k < count; ++k) {
      sums[k] += rows.sum[k];
    }
  }
}

// Whole blocks of four rows, by a fast scale.
PLAIN_INLINE void multiply_whole(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first, int32_t end,
                                 bool adds, int16_t *values) {
  const int32_t columns = matrix->columns;
  const int64_t *const biases = matrix->bias, *bias = &biases[first];
  const dsp_scales scales = dsp_make_scales(&matrix->multiplier, &matrix->shift, bias, INT16_MIN, INT16_MAX);
  const dsp_wide_channel channel = dsp_make_wide(&scales);
  int16_t *value = &values[first];
  const int16_t *const values_end = &values[end];
  plain_rows rows = plain_make_rows(vector + columns, &matrix->weights[first * columns], columns, columns, 4);
  while (value != values_end) {
    rows.sum[0] = (int32_t)bias[0];
    rows.sum[1] = (int32_t)bias[1];
    rows.sum[2] = (int32_t)bias[2];
    rows.sum[3] = (int32_t)bias[3];
    plain_multiply_rows_s16(&rows);
    for (int32_t i = 0; i < 4; ++i) {
      const int32_t product = dsp_requantize_fast(channel, rows.sum[i]);
      *value = (int16_t)plain_saturate_half(adds ? product + *value : product);
      ++value;
    }
    bias += 4;
  }
}

PLAIN_OUT_OF_LINE static void store_whole(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first,
                                          int32_t end, int16_t *values) {
  multiply_whole(matrix, vector, first, end, false, values);
}

PLAIN_OUT_OF_LINE static void add_whole(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first,
                                        int32_t end, int16_t *values) {
  multiply_whole(matrix, vector, first, end, true, values);
}

// Any number of rows, by any scale.
static void multiply_exactly(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first, int32_t end,
                             bool adds, int16_t *values) {
  const int32_t columns = matrix->columns;
  const int64_t *const bias = matrix->bias;
  for (int32_t row = first; row < end; row += 4) {
    const int32_t count = end - row < 4 ? end - row : 4;
    int64_t sums[4] = { 0, 0, 0, 0 };
    add_blocks(vector, &matrix->weights[row * columns], columns, count, sums);
    for (int32_t k = 0; k < count; ++k) {
      const int32_t product = dsp_requantize_wide_exactly(sums[k] + bias[row + k], matrix->multiplier, matrix->shift);
      values[row + k] = plain_add_half(product, adds ? values[row + k] : 0);
    }
  }
}

static void multiply(const dsp_lstm_matrix *matrix, const void *vector, int32_t first, int32_t end, bool adds,
                     int16_t *values) {
  if (!matrix->is_fast) {
    multiply_exactly(matrix, vector, first, end, adds, values);
  } else if (end - first < 4) {
    dsp_multiply_few_s16(matrix, vector, first, end, adds, values);
  } else {
    (adds ? add_whole : store_whole)(matrix, vector, first, end, values);
  }
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
