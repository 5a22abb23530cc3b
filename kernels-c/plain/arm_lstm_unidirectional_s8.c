// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_lstm.h"
#include "plain_rows.h"

// A product of two numbers of 8 bits is at most 2^14.
enum { MOST_COLUMNS = 1 << 15, LARGEST_PRODUCT = 1 << 14 };

// plain_requantize takes the scale and the sums.
static bool is_fast(const dsp_lstm_matrix *matrix, int32_t rows) {
  if (!plain_is_fast(matrix->multiplier, matrix->shift) || matrix->columns > MOST_COLUMNS) {
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

static int32_t quotient(const dsp_lstm_matrix *matrix, int32_t sum) {
  return matrix->is_fast ? plain_requantize(sum, matrix->multiplier, matrix->shift)
                         : plain_requantize_any(sum, matrix->multiplier, matrix->shift);
}

static void multiply(const dsp_lstm_matrix *matrix, const void *vector, int32_t first, int32_t end, bool adds,
                     int16_t *values) {
  const int32_t columns = matrix->columns;
  const int8_t *const vector_end = (const int8_t *)vector + columns, *weights = &matrix->weights[first * columns];
  const int32_t *const biases = matrix->bias, *bias = &biases[first];
  values += first;
  for (int32_t left = end - first; left > 0; left -= 4) {
    const int32_t count = left < 4 ? left : 4;
    plain_rows rows = plain_make_rows(vector_end, weights, columns, columns, count);
    for (int32_t i = 0; i < count; ++i) {
      rows.sum[i] = *bias++;
    }
    plain_multiply_rows_s8(&rows);
    for (int32_t i = 0; i < count; ++i) {
      const int32_t product = dmo_clamp(quotient(matrix, rows.sum[i]), -(1 << 17), 1 << 17);
      *values = (int16_t)dmo_clamp(adds ? product + *values : product, INT16_MIN, INT16_MAX);
      ++values;
    }
    weights += 4 * columns;
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
