// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"
#include "dmo_signal_bits.h"

void dmo_signal_scale_s16(int32_t count, const int16_t *input, int16_t *output, int32_t *bits) {
  // Where the magnitude of -32768 has no place, it wraps to -32768 again, and any number is larger.
  int16_t largest = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (input[i] > largest) {
      largest = input[i];
    } else if (-input[i] > largest) {
      largest = (int16_t)-input[i];
    }
  }
  const int32_t free_bits = largest > 0 ? 15 - dmo_signal_bits((uint32_t)largest) : 0;
  for (int32_t i = 0; i < count; ++i) {
    output[i] = (int16_t)(input[i] * (1 << free_bits));
  }
  *bits = free_bits;
}
