// SPDX-License-Identifier: MIT OR Apache-2.0
//
// By the pair, from the last to the first, as digits of base 16; the kernels take bits of single weights.
#include "oracle_int4.h"

static int8_t of_digit(int32_t digit) {
  return (int8_t)(digit < 8 ? digit : digit - 16);
}

void oracle_unpack_s4(const uint8_t *packed, int32_t count, int8_t *weights) {
  for (int32_t pair = (count + 1) / 2 - 1; pair >= 0; --pair) {
    weights[2 * pair] = of_digit(packed[pair] % 16);
    if (2 * pair + 1 < count) {
      weights[2 * pair + 1] = of_digit(packed[pair] / 16);
    }
  }
}
