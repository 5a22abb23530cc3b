// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_int16.h"
#include "dmo_lstm.h"

#define DMO_LSTM_ACTIVATION int16_t
#define DMO_LSTM_LEAST INT16_MIN
#define DMO_LSTM_GREATEST INT16_MAX
#define DMO_LSTM_SUM int64_t
#define DMO_LSTM_WEIGHTS dmo_lstm_weights_s16
#define DMO_LSTM_REQUANTIZE dmo_requantize_wide
#include "dmo_lstm_steps.h"

void dmo_unidirectional_sequence_lstm_s16(const dmo_lstm_params *params, const dmo_lstm_size *size, const int16_t *input,
                                          const dmo_lstm_weights_s16 weights[4], const uint16_t *sigmoid_table,
                                          int16_t *hidden_state, int16_t *cell_state, int16_t *output,
                                          int16_t *scratch) {
  run_all(params, size, input, weights, sigmoid_table, hidden_state, cell_state, output, scratch);
}
