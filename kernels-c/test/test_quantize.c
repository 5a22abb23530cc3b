// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle.h"

#include <stddef.h>

static const int32_t edges[] = {
  INT32_MIN, INT32_MIN + 1, -(1 << 30) - 1, -(1 << 30), -(1 << 30) + 1, -65537, -65536, -256, -129, -128, -127,
  -3, -2, -1, 0, 1, 2, 3, 127, 128, 255, 65535, 65536, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, INT32_MAX - 1, INT32_MAX,
};
enum { EDGES = sizeof edges / sizeof edges[0] };

__extension__ typedef __int128 int128;

// a * b / 2^31, the nearest integer, the upper one if two are equally near: floor((2 * a * b + 2^31) / 2^32).
static int64_t expected_high(int32_t a, int32_t b) {
  const int128 unit = (int128)1 << 32;
  const int128 numerator = (int128)a * b * 2 + ((int128)1 << 31);
  int128 quotient = numerator / unit;
  if (numerator % unit < 0) {
    --quotient;
  }
  return quotient > INT32_MAX ? INT32_MAX : (int64_t)quotient;
}

static void test_multiply_high(void) {
  for (int32_t i = 0; i < EDGES; ++i) {
    for (int32_t j = 0; j < EDGES; ++j) {
      CHECK(dmo_multiply_high(edges[i], edges[j]) == expected_high(edges[i], edges[j]), "multiply_high", edges[i]);
    }
  }
  for (int32_t n = 0; n < 200000; ++n) {
    const int32_t a = random_between(INT32_MIN, INT32_MAX);
    const int32_t b = n % 2 == 0 ? random_between(INT32_MIN, INT32_MAX) : edges[n % EDGES];
    CHECK(dmo_multiply_high(a, b) == expected_high(a, b), "multiply_high", a);
  }
}

static void test_divide_by_power_of_two(void) {
  for (int32_t exponent = 0; exponent <= 31; ++exponent) {
    const int64_t divisor = INT64_C(1) << exponent;
    for (int32_t i = 0; i < EDGES; ++i) {
      CHECK(dmo_divide_by_power_of_two(edges[i], exponent) == oracle_divide_rounding(edges[i], divisor),
            "divide_by_power_of_two", edges[i]);
    }
    for (int32_t value = -2000; value <= 2000; ++value) {
      CHECK(dmo_divide_by_power_of_two(value, exponent) == oracle_divide_rounding(value, divisor),
            "divide_by_power_of_two", value);
    }
    for (int32_t n = 0; n < 2000; ++n) {
      const int32_t value = random_between(INT32_MIN, INT32_MAX);
      CHECK(dmo_divide_by_power_of_two(value, exponent) == oracle_divide_rounding(value, divisor),
            "divide_by_power_of_two", value);
    }
  }
}

static void test_requantize(void) {
  for (int32_t shift = -31; shift <= 20; ++shift) {
    const int32_t limit = shift > 0 ? INT32_MAX >> shift : INT32_MAX;
    for (int32_t n = 0; n < 4000; ++n) {
      const int32_t value = random_between(-limit, limit);
      const int32_t multiplier = n % 50 == 0 ? 0 : random_between(1 << 30, INT32_MAX);
      CHECK(dmo_requantize(value, multiplier, shift) == oracle_requantize(value, multiplier, shift), "requantize",
            value);
    }
  }
}

// oracle_requantize against 128-bit arithmetic, so that the two sides of the tests above do not only agree.
static void test_oracle_requantize(void) {
  for (int32_t n = 0; n < 100000; ++n) {
    const int32_t value = random_between(INT32_MIN, INT32_MAX);
    const int32_t multiplier = random_between(1 << 30, INT32_MAX);
    const int32_t shift = random_between(-31, 0);
    const int128 divisor = (int128)1 << -shift;
    const int128 high = expected_high(value, multiplier);
    const int128 magnitude = high < 0 ? -high : high;
    const int128 rounded = (magnitude + divisor / 2) / divisor;
    const int64_t expected = (int64_t)(high < 0 ? -rounded : rounded);
    CHECK(oracle_requantize(value, multiplier, shift) == expected, "oracle_requantize", value);
  }
}

void test_quantize(void) {
  test_multiply_high();
  test_divide_by_power_of_two();
  test_requantize();
  test_oracle_requantize();
}
