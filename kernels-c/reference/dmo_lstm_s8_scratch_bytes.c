// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_lstm.h"

int32_t dmo_lstm_s8_scratch_bytes(const dmo_lstm_size *size) {
  const int32_t batches = size->time_major != 0 ? size->batches : 1;
  return DMO_LSTM_GATES * batches * size->units * (int32_t)sizeof(int16_t);
}
