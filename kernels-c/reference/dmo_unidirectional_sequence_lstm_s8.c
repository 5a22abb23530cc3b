// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_lstm.h"

#define DMO_LSTM_ACTIVATION int8_t
#define DMO_LSTM_LEAST INT8_MIN
#define DMO_LSTM_GREATEST INT8_MAX
#define DMO_LSTM_SUM int32_t
#define DMO_LSTM_WEIGHTS dmo_lstm_weights
#define DMO_LSTM_REQUANTIZE dmo_requantize
#include "dmo_lstm_steps.h"

void dmo_unidirectional_sequence_lstm_s8(const dmo_lstm_params *params, const dmo_lstm_size *size, const int8_t *input,
                                         const dmo_lstm_weights weights[4], const uint16_t *sigmoid_table,
                                         int8_t *hidden_state, int16_t *cell_state, int8_t *output,
                                         int16_t *scratch) {
  run_all(params, size, input, weights, sigmoid_table, hidden_state, cell_state, output, scratch);
}
