// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_int4.h"
#include "plain_int4_block.h"

// A filter begins with a byte, or within one. If the first does and the other does not, they are turned round; if
// neither does, the first column is multiplied by itself.
typedef struct {
  int32_t first, other; // weights
  int32_t column;       // the first that is left
  bool is_turned, is_split;
} int4_order;

PLAIN_INLINE int4_order order_of(const plain_int4_pair *pair) {
  const bool is_first_within = pair->first % 2 != 0, is_other_within = pair->other % 2 != 0;
  if (!is_first_within) {
    return (int4_order){ pair->first, pair->other, 0, false, is_other_within };
  }
  if (!is_other_within) {
    return (int4_order){ pair->other, pair->first, 0, true, true };
  }
  return (int4_order){ pair->first + 1, pair->other + 1, 1, false, false };
}

static void multiply_column_row(const plain_int4_pair *pair, const int8_t *row, int32_t column, int32_t offset,
                                int32_t *sums) {
  const int32_t value = row[column] + offset;
  sums[0] += value * plain_int4_at(pair->packed, pair->first + column);
  sums[1] += value * plain_int4_at(pair->packed, pair->other + column);
}

static void multiply_column_patches(const plain_int4_pair *pair, const int8_t *patch, int32_t step, int32_t column,
                                    int32_t *sums) {
  const int32_t value0 = patch[column], value1 = patch[step + column];
  const int32_t weight = plain_int4_at(pair->packed, pair->first + column);
  const int32_t other = plain_int4_at(pair->packed, pair->other + column);
  sums[0] += value0 * weight;
  sums[1] += value1 * weight;
  sums[2] += value0 * other;
  sums[3] += value1 * other;
}

void plain_multiply_int4_row(const plain_int4_pair *pair, const int8_t *row, int32_t offset, int32_t *sums) {
  const int4_order order = order_of(pair);
  const int32_t whole = (pair->columns - order.column) & ~1, end = order.column + whole;
  if (order.column != 0) {
    multiply_column_row(pair, row, 0, offset, sums);
  }
  if (whole != 0) {
    plain_int4_block block = {
      .patch0 = row + order.column,
      .filter0 = &pair->packed[order.first / 2],
      .filter1 = &pair->packed[order.other / 2],
      .patch0_end = row + end,
      .offset = offset,
    };
    (order.is_split ? plain_multiply_one_split : plain_multiply_one_joined)(&block);
    sums[0] += block.sums[order.is_turned ? 1 : 0];
    sums[1] += block.sums[order.is_turned ? 0 : 1];
  }
  if (end != pair->columns) {
    multiply_column_row(pair, row, end, offset, sums);
  }
}

void plain_multiply_int4_patches(const plain_int4_pair *pair, const int8_t *patch, int32_t step, int32_t *sums) {
  const int4_order order = order_of(pair);
  const int32_t whole = (pair->columns - order.column) & ~1, end = order.column + whole;
  if (order.column != 0) {
    multiply_column_patches(pair, patch, step, 0, sums);
  }
  if (whole != 0) {
    plain_int4_block block = {
      .patch0 = patch + order.column,
      .patch1 = patch + step + order.column,
      .filter0 = &pair->packed[order.first / 2],
      .filter1 = &pair->packed[order.other / 2],
      .patch0_end = patch + end,
    };
    (order.is_split ? plain_multiply_two_split : plain_multiply_two_joined)(&block);
    const int32_t *const first = &block.sums[order.is_turned ? 2 : 0];
    const int32_t *const other = &block.sums[order.is_turned ? 0 : 2];
    sums[0] += first[0];
    sums[1] += first[1];
    sums[2] += other[0];
    sums[3] += other[1];
  }
  if (end != pair->columns) {
    multiply_column_patches(pair, patch, step, end, sums);
  }
}
