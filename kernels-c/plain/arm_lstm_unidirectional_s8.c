// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_lstm.h"
#include "plain_rows.h"

// A product of two numbers of 8 bits is at most 2^14.
enum { MOST_COLUMNS = 1 << 15, LARGEST_PRODUCT = 1 << 14 };

// plain_requantize takes the scale and the sums, and products have 31 bits.
static bool is_fast(const dsp_lstm_matrix *matrix, int32_t rows) {
  if (!plain_is_fast(matrix->multiplier, matrix->shift) || matrix->shift == 0 || matrix->columns > MOST_COLUMNS) {
    return false;
  }
  const int32_t most = PLAIN_LARGEST_SUM - LARGEST_PRODUCT * matrix->columns;
  const int32_t *bias = matrix->bias;
  bool are_small = true;
  for (int32_t left = rows; left > 0; --left) {
    are_small &= *bias >= -most && *bias <= most;
    ++bias;
  }
  return are_small;
}

// As plain_requantize, for a shift of ~right.
PLAIN_INLINE int32_t quotient(int32_t sum, int32_t multiplier, int32_t right) {
  const int32_t product = plain_multiply_high(sum, multiplier);
  return (((product + (product >> 31)) >> right) + 1) >> 1;
}

// Whole blocks of four rows, by a fast scale.
PLAIN_INLINE void multiply_whole(const dsp_lstm_matrix *matrix, const int8_t *vector, int32_t first, int32_t end,
                                 bool adds, int16_t *values) {
  const int32_t columns = matrix->columns, multiplier = matrix->multiplier, right = ~matrix->shift;
  const int32_t *const biases = matrix->bias, *bias = &biases[first];
  int16_t *value = &values[first];
  const int16_t *const values_end = &values[end];
  plain_rows rows = plain_make_rows(vector + columns, &matrix->weights[first * columns], columns, columns, 4);
  while (value != values_end) {
    rows.sum[0] = bias[0];
    rows.sum[1] = bias[1];
    rows.sum[2] = bias[2];
    rows.sum[3] = bias[3];
    plain_multiply_rows_s8(&rows);
    for (int32_t i = 0; i < 4; ++i) {
      const int32_t product = quotient(rows.sum[i], multiplier, right);
      *value = (int16_t)plain_saturate_half(adds ? product + *value : product);
      ++value;
    }
    bias += 4;
  }
}

PLAIN_OUT_OF_LINE static void store_whole(const dsp_lstm_matrix *matrix, const int8_t *vector, int32_t first,
                                          int32_t end, int16_t *values) {
  multiply_whole(matrix, vector, first, end, false, values);
}

PLAIN_OUT_OF_LINE static void add_whole(const dsp_lstm_matrix *matrix, const int8_t *vector, int32_t first,
                                        int32_t end, int16_t *values) {
  multiply_whole(matrix, vector, first, end, true, values);
}

// Any number of rows, by any scale.
static void multiply_some(const dsp_lstm_matrix *matrix, const int8_t *vector, int32_t first, int32_t end, bool adds,
                          int16_t *values) {
  const int32_t columns = matrix->columns;
  const int32_t *const bias = matrix->bias;
  for (int32_t row = first; row < end; row += 4) {
    const int32_t count = end - row < 4 ? end - row : 4;
    plain_rows rows = plain_make_rows(vector + columns, &matrix->weights[row * columns], columns, columns, count);
    for (int32_t i = 0; i < count; ++i) {
      rows.sum[i] = bias[row + i];
    }
    plain_multiply_rows_s8(&rows);
    for (int32_t i = 0; i < count; ++i) {
      const int32_t product = matrix->is_fast ? quotient(rows.sum[i], matrix->multiplier, ~matrix->shift)
                                              : plain_requantize_any(rows.sum[i], matrix->multiplier, matrix->shift);
      values[row + i] = plain_add_half(product, adds ? values[row + i] : 0);
    }
  }
}

static void multiply(const dsp_lstm_matrix *matrix, const void *vector, int32_t first, int32_t end, bool adds,
                     int16_t *values) {
  if (matrix->is_fast && end - first >= 4) {
    (adds ? add_whole : store_whole)(matrix, vector, first, end, values);
  } else {
    multiply_some(matrix, vector, first, end, adds, values);
  }
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
