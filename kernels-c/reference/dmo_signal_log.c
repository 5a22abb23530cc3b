// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"
#include "dmo_signal_bits.h"

// log2(x) of a number above 0, with 16 bits after the point: its first bit, what follows as a fraction, and what this is
// short of. Between the table's entries TensorFlow Lite Micro divides by 2^16, where 2^9 would interpolate.
static uint32_t log2_of(uint32_t x, const uint16_t *table) {
  const int32_t whole = dmo_signal_bits(x) - 1;
  const uint32_t after = x - ((uint32_t)1 << whole);
  const int32_t fraction = (int32_t)(whole < 16 ? after << (16 - whole) : after >> (whole - 16));
  const int32_t segment = fraction >> 9;
  const int32_t from = table[segment], to = table[segment + 1];
  const int32_t lacking = from + (((to - from) * (fraction - segment * 512)) >> 16);
  return ((uint32_t)whole << 16) + (uint32_t)(fraction + lacking);
}

void dmo_signal_log(int32_t correction_bits, uint32_t scale, int32_t count, const uint32_t *input,
                    const uint16_t *table, int16_t *output) {
  static const uint32_t ln_2 = 45426; // with 16 bits after the point
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t x = input[i] << correction_bits;
    uint32_t scaled = 0;
    if (x > 1) {
      const uint32_t natural = (uint32_t)(((uint64_t)ln_2 * log2_of(x, table) + 32768) >> 16);
      scaled = (scale * natural + 32768) >> 16;
    }
    output[i] = (int16_t)(scaled < INT16_MAX ? scaled : INT16_MAX);
  }
}
