// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"

int32_t dmo_signal_filter_bank_scratch_bytes(const dmo_signal_bank *bank) {
  return bank->channels * (int32_t)sizeof(uint64_t);
}

void dmo_signal_filter_bank(const dmo_signal_bank *bank, const uint32_t *input, uint64_t *output, uint64_t *scratch) {
  uint64_t falling = 0;
  for (int32_t entry = 0; entry <= bank->channels; ++entry) {
    uint64_t rising = falling;
    falling = 0;
    for (int32_t i = 0; i < bank->widths[entry]; ++i) {
      const int32_t at = bank->weight_begins[entry] + i;
      const uint64_t x = input[bank->input_begins[entry] + i];
      rising += (uint64_t)bank->weights[at] * x;
      falling += (uint64_t)bank->unweights[at] * x;
    }
    if (entry > 0) {
      scratch[entry - 1] = rising;
    }
  }
  for (int32_t channel = 0; channel < bank->channels; ++channel) {
    output[channel] = scratch[channel];
  }
}
