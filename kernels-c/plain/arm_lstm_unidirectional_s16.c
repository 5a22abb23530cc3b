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

static void store(int32_t product, bool adds, int16_t *value) {
  const int32_t in_reach = dmo_clamp(product, -(1 << 17), 1 << 17);
  *value = (int16_t)dmo_clamp(adds ? in_reach + *value : in_reach, INT16_MIN, INT16_MAX);
}

static void multiply_fast(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first, int32_t end, bool adds,
                          int16_t *values) {
  const int32_t columns = matrix->columns;
  const int64_t *const bias = matrix->bias;
  const dsp_scales scales = dsp_make_scales(&matrix->multiplier, &matrix->shift, bias, INT16_MIN, INT16_MAX);
  const dsp_wide_channel channel = dsp_make_wide(&scales);
  for (int32_t row = first; row < end; row += 4) {
    const int32_t count = end - row < 4 ? end - row : 4;
    plain_rows rows = plain_make_rows(&vector[columns], &matrix->weights[row * columns], columns, columns, count);
    for (int32_t k = 0; k < count; ++k) {
      rows.sum[k] = (int32_t)bias[row + k];
    }
    plain_multiply_rows_s16(&rows);
    for (int32_t k = 0; k < count; ++k) {
      store(dsp_requantize_fast(channel, rows.sum[k]), adds, &values[row + k]);
    }
  }
}

static void multiply_exactly(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first, int32_t end, bool adds,
                             int16_t *values) {
  const int32_t columns = matrix->columns;
  const int64_t *const bias = matrix->bias;
  for (int32_t row = first; row < end; row += 4) {
    const int32_t count = end - row < 4 ? end - row : 4;
    int64_t sums[4] = { 0, 0, 0, 0 };
    add_blocks(vector, &matrix->weights[row * columns], columns, count, sums);
    for (int32_t k = 0; k < count; ++k) {
      store(dsp_requantize_wide_exactly(sums[k] + bias[row + k], matrix->multiplier, matrix->shift), adds,
            &values[row + k]);
    }
  }
}

static void multiply(const dsp_lstm_matrix *matrix, const void *vector, int32_t first, int32_t end, bool adds,
                     int16_t *values) {
  (matrix->is_fast ? multiply_fast : multiply_exactly)(matrix, vector, first, end, adds, values);
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
