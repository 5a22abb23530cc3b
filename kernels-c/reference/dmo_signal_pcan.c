// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"
#include "dmo_signal_bits.h"

enum { FRACTION_BITS = 10, SHRUNK_BITS = 6, RATIO_BITS = 12 };

static int16_t gain_of(uint32_t noise, const int16_t *gains) {
  if (noise <= 2) {
    return gains[noise];
  }
  // Each power of two is an interval, in which the bits after the first are the fraction.
  const int32_t bits = dmo_signal_bits(noise), after = bits - 1 - FRACTION_BITS;
  const int16_t *piece = gains + 4 * bits - 6;
  const uint32_t scaled = after < 0 ? noise << -after : noise >> after;
  const int32_t fraction = (int32_t)(scaled & ((1u << FRACTION_BITS) - 1));
  const int32_t slope = ((piece[2] * fraction) >> 5) + piece[1] * 32;
  return (int16_t)(((slope * fraction + (1 << 14)) >> 15) + piece[0]);
}

static uint32_t shrink(uint32_t ratio) {
  if (ratio < 2u << RATIO_BITS) {
    return (ratio * ratio) >> (2 + 2 * RATIO_BITS - SHRUNK_BITS);
  }
  return (ratio >> (RATIO_BITS - SHRUNK_BITS)) - (1u << SHRUNK_BITS);
}

void dmo_signal_pcan(int32_t shift, int32_t count, const uint32_t *input, const uint32_t *noise, const int16_t *gains,
                     uint32_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t gain = (uint32_t)gain_of(noise[i], gains);
    output[i] = shrink((uint32_t)(((uint64_t)input[i] * gain) >> shift));
  }
}
