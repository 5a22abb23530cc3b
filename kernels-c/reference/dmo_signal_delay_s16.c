// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"

void dmo_signal_delay_s16(const dmo_signal_delay_size *size, const int16_t *input, int16_t *kept, int16_t *output) {
  for (int32_t row = 0; row < size->rows; ++row) {
    for (int32_t i = 0; i < size->frame; ++i) {
      kept[size->delay + i] = input[i];
    }
    for (int32_t i = 0; i < size->frame; ++i) {
      output[i] = kept[i];
    }
    for (int32_t i = 0; i < size->delay; ++i) {
      kept[i] = kept[size->frame + i];
    }
    input += size->frame;
    output += size->frame;
    kept += size->delay + size->frame;
  }
}
