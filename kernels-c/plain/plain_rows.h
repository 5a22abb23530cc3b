// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sums of products of a vector with four rows of weights: the inside of the LSTMs.
#ifndef PLAIN_ROWS_H
#define PLAIN_ROWS_H

#include "plain.h"

// The assembly reads this struct, in this order, and moves the rows' ends to the four rows behind, as far
// apart as a row has columns.
typedef struct {
  const void *vector_end;     // of minus_columns elements
  const int8_t *weights_end[4];
  int32_t minus_columns;      // not 0
  int32_t sum[4];             // what the products are added to
  int32_t count;              // rows, 1 to 4: sums beyond them are any number
} plain_rows;

// The rows beyond `count` are the last once more.
PLAIN_INLINE plain_rows plain_make_rows(const void *vector_end, const int8_t *weights, int32_t columns, int32_t apart,
                                        int32_t count) {
  const int8_t *const end0 = weights + columns, *const end1 = count > 1 ? end0 + apart : end0;
  const int8_t *const end2 = count > 2 ? end1 + apart : end1, *const end3 = count > 3 ? end2 + apart : end2;
  return (plain_rows){ vector_end, { end0, end1, end2, end3 }, -columns, { 0, 0, 0, 0 }, count };
}

// A vector of int8_t, or of int16_t.
void plain_multiply_rows_s8(plain_rows *rows);
void plain_multiply_rows_s16(plain_rows *rows);

// To 16 bits.
PLAIN_INLINE int32_t plain_saturate_half(int32_t value) {
#if PLAIN_THUMB == 2
  int32_t result;
  __asm__("ssat %0, #16, %1" : "=r"(result) : "r"(value));
  return result;
#else
  return dmo_clamp(value, INT16_MIN, INT16_MAX);
#endif
}

// The sum of any number and one of 16 bits.
PLAIN_INLINE int16_t plain_add_half(int32_t number, int16_t half) {
  return (int16_t)plain_saturate_half(dmo_clamp(number, -(1 << 17), 1 << 17) + half);
}

#endif
