// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The pieces of plain/ that are written by hand, compared with sums and requantisation as the reference kernels have
// them: natively their C forms, on the target the assembly. Sums reach to the largest that the pieces take.
#include "plain_int4.h"
#include "plain_multiply.h"
#include "plain_pairs.h"
#include "plain_rows.h"
#include "plain_window.h"
#include "semihost.h"

#include <stdlib.h>

#ifndef CASES
#define CASES 20000
#endif

enum { MOST_COLUMNS = 40, MOST_CHANNELS = 6, MOST_TAPS = 12, PIXELS = 2 };

static uint32_t failures;
static const char *what = "";

static void expect(int32_t expected, int32_t actual, const char *why) {
  if (expected != actual && ++failures <= 20) {
    semihost_print(what);
    semihost_print(": ");
    semihost_print(why);
    semihost_print("\n");
  }
}

static uint64_t random_state = 88172645463325252u;

static int32_t between(int32_t min, int32_t max) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  const uint64_t span = (uint64_t)((int64_t)max - min) + 1;
  return (int32_t)(min + (int64_t)((random_state >> 32) % span));
}

static bool one_in(int32_t n) {
  return between(1, n) == 1;
}

static void fill(int8_t *bytes, int32_t count) {
  const bool extreme = one_in(8);
  for (int32_t i = 0; i < count; ++i) {
    bytes[i] = (int8_t)(extreme ? (one_in(2) ? -128 : 127) : between(-128, 127));
  }
}

// Of any size, about powers of two as often as between them.
static int32_t any_number(int32_t most) {
  const int32_t bits = between(0, 30);
  const int32_t size = one_in(3) ? (int32_t)((UINT32_C(1) << bits) + (uint32_t)between(-2, 2))
                                 : between(0, (int32_t)((UINT32_C(1) << bits) - 1));
  const int32_t sum = one_in(20) ? most - between(0, 3) : dmo_clamp(size, 0, most);
  return one_in(2) ? sum : -sum;
}

static int32_t any_multiplier(void) {
  switch (between(0, 9)) {
  case 0:
    return 0;
  case 1:
    return INT32_MAX - between(0, 3);
  case 2:
    return (1 << 30) + between(0, 3);
  case 3:
    return between(1 << 14, (1 << 15) - 1) << 16 | between((1 << 15) - 2, (1 << 15) + 2); // about a half's sign
  default:
    return between(1 << 30, INT32_MAX);
  }
}

typedef struct {
  int32_t offset, min, max;
} output_range;

static output_range any_range(void) {
  output_range result = { between(-128, 127), -128, 127 };
  if (one_in(2)) {
    result.min = between(-128, 127);
    result.max = between(result.min, 127);
  }
  return result;
}

static int32_t output_of(const output_range *range, int32_t sum, int32_t multiplier, int32_t shift) {
  return dmo_clamp(dmo_requantize(sum, multiplier, shift) + range->offset, range->min, range->max);
}

static void test_requantisation(void) {
  what = "plain_requantize";
  const int32_t sum = any_number(PLAIN_LARGEST_SUM), multiplier = any_multiplier(), shift = between(-31, 0);
  expect(dmo_multiply_high(sum, multiplier), plain_multiply_high(sum, multiplier), "high half");
  expect(dmo_requantize(sum, multiplier, shift), plain_requantize(sum, multiplier, shift), "value");
}

static int32_t dot(const int8_t *patch, int32_t offset, const int8_t *filter, int32_t columns) {
  int32_t sum = 0;
  for (int32_t i = 0; i < columns; ++i) {
    sum += (patch[i] + offset) * filter[i];
  }
  return sum;
}

static void test_sums(void) {
  what = "plain_multiply";
  const int32_t columns = between(1, MOST_COLUMNS), offset = between(-127, 128);
  int8_t patch[MOST_COLUMNS], filter[2][MOST_COLUMNS];
  fill(patch, columns);
  fill(filter[0], columns);
  fill(filter[1], columns);
  plain_products products = { patch + columns, filter[0] + columns, filter[1] + columns, -columns, offset,
                              { between(-1000, 1000), between(-1000, 1000) } };
  const int32_t expected0 = products.sum[0] + dot(patch, offset, filter[0], columns);
  const int32_t expected1 = products.sum[1] + dot(patch, offset, filter[1], columns);
  plain_multiply(&products);
  expect(expected0, products.sum[0], "first filter");
  expect(expected1, products.sum[1], "second filter");
  int32_t weights = 0;
  for (int32_t i = 0; i < columns; ++i) {
    weights += patch[i];
  }
  expect(weights, plain_sum(patch, columns), "sum of weights");
}

// Two filters of 4 bits, wherever in their bytes they begin.
static void test_int4_sums(void) {
  what = "plain_multiply_int4";
  const int32_t columns = between(1, MOST_COLUMNS), offset = between(-127, 128);
  int8_t packed[MOST_COLUMNS + 4], patch[PIXELS * MOST_COLUMNS], filter[2][MOST_COLUMNS];
  fill(packed, MOST_COLUMNS + 4);
  fill(patch, PIXELS * columns);
  const plain_int4_pair pair = { packed, between(0, 3), between(0, columns + 3), columns };
  plain_unpack(packed, pair.first, columns, filter[0]);
  plain_unpack(packed, pair.other, columns, filter[1]);
  int32_t weights = 0;
  for (int32_t i = 0; i < columns; ++i) {
    expect(plain_int4_at(packed, pair.other + i), filter[1][i], "weight");
    weights += filter[1][i];
  }
  expect(weights, plain_int4_sum(packed, pair.other, columns), "sum of weights");
  int32_t sums[2] = { between(-1000, 1000), between(-1000, 1000) };
  const int32_t expected[2] = { sums[0] + dot(patch, offset, filter[0], columns),
                                sums[1] + dot(patch, offset, filter[1], columns) };
  plain_multiply_int4_row(&pair, patch, offset, sums);
  expect(expected[0], sums[0], "first filter of a row");
  expect(expected[1], sums[1], "second filter of a row");
  int32_t products[2 * PIXELS] = { 0 };
  plain_multiply_int4_patches(&pair, patch, columns, products);
  for (int32_t i = 0; i < 2 * PIXELS; ++i) {
    expect(dot(&patch[i % PIXELS * columns], 0, filter[i / PIXELS], columns), products[i], "filter of a patch");
  }
}

// Up to four rows of weights by a vector of either width, and then as many rows behind them.
static void test_rows(bool is_wide) {
  what = is_wide ? "plain_multiply_rows_s16" : "plain_multiply_rows_s8";
  const int32_t columns = between(1, MOST_COLUMNS), count = between(1, 4), groups = count == 4 ? 2 : 1;
  int8_t narrow[MOST_COLUMNS], weights[8 * MOST_COLUMNS];
  int16_t wide[MOST_COLUMNS];
  fill(narrow, columns);
  fill(weights, 8 * columns);
  for (int32_t i = 0; i < columns; ++i) {
    wide[i] = (int16_t)(one_in(8) ? INT16_MIN : between(INT16_MIN, INT16_MAX));
  }
  plain_rows rows = plain_make_rows(is_wide ? (const void *)(wide + columns) : (const void *)(narrow + columns), weights,
                                    columns, columns, count);
  for (int32_t group = 0; group < groups; ++group) {
    int32_t expected[4];
    for (int32_t k = 0; k < count; ++k) {
      expected[k] = rows.sum[k] = between(-1000, 1000);
      for (int32_t i = 0; i < columns; ++i) {
        expected[k] += (is_wide ? wide[i] : narrow[i]) * weights[(4 * group + k) * columns + i];
      }
    }
    (is_wide ? plain_multiply_rows_s16 : plain_multiply_rows_s8)(&rows);
    for (int32_t k = 0; k < count; ++k) {
      expect(expected[k], rows.sum[k], "sum");
    }
  }
}

// Two pixels, or the first of them with an offset.
static void test_pairs(bool single) {
  what = single ? "plain_convolve_single" : "plain_convolve_pairs";
  const int32_t columns = between(1, MOST_COLUMNS), channels = 2 * between(1, MOST_CHANNELS / 2);
  const int32_t offset = single ? between(-127, 128) : 0;
  int8_t patch[PIXELS][MOST_COLUMNS], filter[MOST_CHANNELS * MOST_COLUMNS];
  int8_t output[PIXELS][MOST_CHANNELS + 1] = { { 0 } };
  int32_t start[MOST_CHANNELS], multiplier[MOST_CHANNELS], shift[MOST_CHANNELS];
  fill(patch[0], columns);
  fill(patch[1], columns);
  fill(filter, channels * columns);
  for (int32_t c = 0; c < channels; ++c) {
    start[c] = any_number(PLAIN_LARGEST_SUM - 255 * 128 * MOST_COLUMNS);
    multiplier[c] = any_multiplier();
    shift[c] = between(-31, 0);
  }
  const output_range range = any_range();
  plain_pairs pairs = {
    .patch0_end = patch[0] + columns,
    .patch1_end = patch[1] + columns,
    .filter0_end = filter + columns,
    .filter1_end = filter + 2 * columns,
    .minus_columns = -columns,
    .minus_channels = -channels,
    .start_end = start + channels,
    .multiplier_end = multiplier + channels,
    .shift_end = shift + channels,
    .output0_end = output[0] + channels,
    .output1_end = output[1] + channels,
    .offset = range.offset,
    .min = range.min,
    .max = range.max,
    .raised_offset = range.offset + 127 - range.max,
    .saturated_min = range.min + 127 - range.max,
    .input_offset = offset,
  };
  (single ? plain_convolve_single : plain_convolve_pairs)(&pairs);
  for (int32_t p = 0; p < PIXELS; ++p) {
    for (int32_t c = 0; c < channels; ++c) {
      const int32_t sum = start[c] + dot(patch[p], offset, &filter[c * columns], columns);
      expect(single && p == 1 ? 0 : output_of(&range, sum, multiplier[c], shift[c]), output[p][c], "output");
    }
    expect(0, output[p][channels], "behind the outputs");
  }
}

static void test_window(void) {
  what = "plain_convolve_window";
  const bool one_to_many = one_in(3);
  const int32_t rows = between(1, 4), channels = between(1, MOST_CHANNELS);
  const int32_t most_columns = PLAIN_WINDOW_COLUMNS;
  const int32_t columns = between(1, most_columns < MOST_TAPS ? most_columns : MOST_TAPS);
  const int32_t in_channels = one_to_many ? 1 : channels, offset = one_in(3) ? 0 : between(-127, 128);
  int8_t input[4 * MOST_TAPS * MOST_CHANNELS], filter[4 * MOST_TAPS * MOST_CHANNELS], output[MOST_CHANNELS + 1] = { 0 };
  int32_t start[MOST_CHANNELS], multiplier[MOST_CHANNELS], shift[MOST_CHANNELS];
  const int32_t wide = between(columns, MOST_TAPS); // of the input
  fill(input, rows * wide * in_channels);
  fill(filter, rows * columns * channels);
  for (int32_t c = 0; c < channels; ++c) {
    start[c] = any_number(PLAIN_LARGEST_SUM - 255 * 128 * 4 * MOST_TAPS);
    multiplier[c] = any_multiplier();
    shift[c] = between(-31, 0);
  }
  const output_range range = any_range();
  plain_window window = {
    .input_end = one_to_many ? input : input + channels,
    .filter_end = filter + channels,
    .input_column = in_channels,
    .filter_column = channels,
    .input_row = wide * in_channels,
    .filter_row = columns * channels,
    .rows = rows,
    .columns = columns,
    .minus_channels = -channels,
    .input_mask = one_to_many ? 0 : -1,
    .input_offset = offset,
    .start_end = start + channels,
    .multiplier_end = multiplier + channels,
    .shift_end = shift + channels,
    .output_end = output + channels,
    .offset = range.offset,
    .min = range.min,
    .max = range.max,
    .raised_offset = range.offset + 127 - range.max,
    .saturated_min = range.min + 127 - range.max,
  };
  plain_convolve_window(&window);
  for (int32_t c = 0; c < channels; ++c) {
    int32_t sum = start[c];
    for (int32_t y = 0; y < rows; ++y) {
      for (int32_t x = 0; x < columns; ++x) {
        sum += (input[(y * wide + x) * in_channels + (one_to_many ? 0 : c)] + offset) *
               filter[(y * columns + x) * channels + c];
      }
    }
    expect(output_of(&range, sum, multiplier[c], shift[c]), output[c], "output");
  }
  expect(0, output[channels], "behind the outputs");
}

int main(void) {
  for (int32_t i = 0; i < CASES; ++i) {
    test_requantisation();
    test_sums();
    test_int4_sums();
    test_rows(false);
    test_rows(true);
    test_pairs(false);
    test_pairs(true);
    test_window();
  }
  if (failures == 0) {
    semihost_print("all cases passed\n");
  }
  return failures == 0 ? 0 : 1;
}
