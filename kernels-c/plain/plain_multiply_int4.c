// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_int4.h"

// A patch or, with `patches` 2, two that are `step` bytes apart, by two filters.
typedef struct {
  const int8_t *patch;
  int32_t step, patches, offset;
} int4_patches;

static void multiply_column(const plain_int4_pair *pair, const int4_patches *patches, int32_t column, int32_t *sums) {
  const int32_t weight = plain_int4_at(pair->packed, pair->first + column);
  const int32_t other = plain_int4_at(pair->packed, pair->other + column);
  for (int32_t i = 0; i < patches->patches; ++i) {
    const int32_t value = patches->patch[i * patches->step + column] + patches->offset;
    sums[i] += value * weight;
    sums[i + patches->patches] += value * other;
  }
}

// An even number of columns. The first filter begins with a byte; if the other does not, each pair of its weights lies
// in two bytes.
PLAIN_INLINE void multiply_one(const int8_t *patch, int32_t offset, const int8_t *filter0, const int8_t *filter1,
                               int32_t columns, bool is_split, int32_t *sums) {
  int32_t sum0 = sums[0], sum1 = sums[1];
  for (const int8_t *const end = patch + columns; patch != end; patch += 2) {
    const int32_t value0 = patch[0] + offset, value1 = patch[1] + offset;
    const int32_t byte0 = *filter0++, byte1 = *filter1++;
    sum0 += value0 * plain_lower(byte0);
    sum0 += value1 * plain_upper(byte0);
    sum1 += value0 * (is_split ? plain_upper(byte1) : plain_lower(byte1));
    sum1 += value1 * (is_split ? plain_lower(*filter1) : plain_upper(byte1));
  }
  sums[0] = sum0;
  sums[1] = sum1;
}

PLAIN_INLINE void multiply_two(const int8_t *patch0, int32_t step, const int8_t *filter0, const int8_t *filter1,
                               int32_t columns, bool is_split, int32_t *sums) {
  int32_t sum00 = sums[0], sum10 = sums[1], sum01 = sums[2], sum11 = sums[3];
  const int8_t *patch1 = patch0 + step;
  for (const int8_t *const end = patch0 + columns; patch0 != end; patch0 += 2) {
    int32_t value0 = patch0[0], value1 = patch1[0];
    const int32_t byte0 = *filter0++, byte1 = *filter1++;
    int32_t weight = plain_lower(byte0);
    sum00 += value0 * weight;
    sum10 += value1 * weight;
    weight = is_split ? plain_upper(byte1) : plain_lower(byte1);
    sum01 += value0 * weight;
    sum11 += value1 * weight;
    value0 = patch0[1];
    value1 = patch1[1];
    patch1 += 2;
    weight = plain_upper(byte0);
    sum00 += value0 * weight;
    sum10 += value1 * weight;
    weight = is_split ? plain_lower(*filter1) : plain_upper(byte1);
    sum01 += value0 * weight;
    sum11 += value1 * weight;
  }
  sums[0] = sum00;
  sums[1] = sum10;
  sums[2] = sum01;
  sums[3] = sum11;
}

PLAIN_OUT_OF_LINE static void multiply_joined(const plain_int4_pair *pair, const int4_patches *patches, int32_t column,
                                              int32_t columns, int32_t *sums) {
  const int8_t *const patch = patches->patch + column;
  const int8_t *const filter0 = &pair->packed[(pair->first + column) / 2];
  const int8_t *const filter1 = &pair->packed[(pair->other + column) / 2];
  if (patches->patches == 1) {
    multiply_one(patch, patches->offset, filter0, filter1, columns, false, sums);
  } else {
    multiply_two(patch, patches->step, filter0, filter1, columns, false, sums);
  }
}

PLAIN_OUT_OF_LINE static void multiply_split(const plain_int4_pair *pair, const int4_patches *patches, int32_t columns,
                                             int32_t *sums) {
  const int8_t *const filter0 = &pair->packed[pair->first / 2], *const filter1 = &pair->packed[pair->other / 2];
  if (patches->patches == 1) {
    multiply_one(patches->patch, patches->offset, filter0, filter1, columns, true, sums);
  } else {
    multiply_two(patches->patch, patches->step, filter0, filter1, columns, true, sums);
  }
}

static void multiply(const plain_int4_pair *pair, const int4_patches *patches, int32_t *sums) {
  const int32_t columns = pair->columns;
  const bool is_split = pair->first % 2 != pair->other % 2;
  int32_t column = 0;
  if (!is_split && pair->first % 2 != 0) {
    multiply_column(pair, patches, column++, sums);
  }
  const int32_t whole = (columns - column) & ~1;
  if (!is_split) {
    multiply_joined(pair, patches, column, whole, sums);
  } else if (pair->first % 2 == 0) {
    multiply_split(pair, patches, whole, sums);
  } else {
    const plain_int4_pair turned = { pair->packed, pair->other, pair->first, columns };
    const int32_t count = patches->patches;
    int32_t turned_sums[4] = { 0, 0, 0, 0 };
    multiply_split(&turned, patches, whole, turned_sums);
    for (int32_t i = 0; i < count; ++i) {
      sums[i] += turned_sums[count + i];
      sums[count + i] += turned_sums[i];
    }
  }
  if (column + whole != columns) {
    multiply_column(pair, patches, column + whole, sums);
  }
}

void plain_multiply_int4_row(const plain_int4_pair *pair, const int8_t *row, int32_t offset, int32_t *sums) {
  const int4_patches patches = { row, 0, 1, offset };
  multiply(pair, &patches, sums);
}

void plain_multiply_int4_patches(const plain_int4_pair *pair, const int8_t *patch, int32_t step, int32_t *sums) {
  const int4_patches patches = { patch, step, 2, 0 };
  multiply(pair, &patches, sums);
}
