// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The logistic function and the hyperbolic tangent by a table of the first, DMO_SIGMOID_TABLE_SIZE entries long; see
// dmo_lstm.h. Arguments are in steps of 1 / 12288: Q3.12 times 3, so that 512 of them are a step of the table.
#ifndef DMO_SIGMOID_TABLE_H
#define DMO_SIGMOID_TABLE_H

#include "dmo_lstm.h"

static inline int32_t dmo_magnitude(int32_t value) {
  return value < 0 ? -value : value;
}

// The table at position, of which `bits` bits are a fraction, in 2^bits times the table's unit; `end` beyond it.
static inline int32_t dmo_interpolated(const uint16_t *table, int32_t position, int32_t bits, int32_t end) {
  const int32_t whole = position >> bits;
  const int32_t fraction = position & ((1 << bits) - 1);
  if (whole >= DMO_SIGMOID_TABLE_SIZE - 1) {
    return end;
  }
  return table[whole] * (1 << bits) + fraction * (table[whole + 1] - table[whole]);
}

// In Q0.15.
static inline int16_t dmo_table_sigmoid(const uint16_t *table, int32_t x) {
  const int32_t of_magnitude = dmo_interpolated(table, dmo_magnitude(x), 9, 0x7fff * 1024);
  const int32_t result = x >= 0 ? of_magnitude + 512 : (1 << 25) - of_magnitude + 511;
  return (int16_t)(result >> 10);
}

// In Q0.15: 2 sigmoid(2 x) - 1.
static inline int16_t dmo_table_tanh(const uint16_t *table, int32_t x) {
  const int32_t of_magnitude = dmo_interpolated(table, dmo_magnitude(x), 8, 0xffff * 256);
  const int32_t result = x >= 0 ? of_magnitude - (1 << 23) + 128 : (1 << 23) - of_magnitude + 127;
  return (int16_t)(result >> 8);
}

#endif
