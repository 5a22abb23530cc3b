// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"

static uint32_t square(int16_t number) {
  return (uint32_t)(number * number);
}

void dmo_signal_energy_s16(int32_t begin, int32_t end, int32_t count, const int16_t *input, uint32_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    output[i] = i < begin || i >= end ? 0 : square(input[2 * i]) + square(input[2 * i + 1]);
  }
}
