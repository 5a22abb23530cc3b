// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"

// Digit by digit: `root` holds the bits found so far, moved up to where the next one is tried.
static uint32_t nearest_root(uint64_t number) {
  const uint64_t most = number >> 32 == 0 ? UINT16_MAX : UINT32_MAX;
  uint64_t root = 0, bit = (uint64_t)1 << 62;
  while (bit > number) {
    bit >>= 2;
  }
  for (; bit != 0; bit >>= 2) {
    const uint64_t tried = root + bit;
    root >>= 1;
    if (number >= tried) {
      number -= tried;
      root += bit;
    }
  }
  // What remains is more than half of the way to the next square.
  return (uint32_t)(number > root && root != most ? root + 1 : root);
}

void dmo_signal_square_root(int32_t count, const uint64_t *input, const int32_t *bits, uint32_t *output) {
  const int32_t shift = *bits & 31;
  for (int32_t i = 0; i < count; ++i) {
    output[i] = nearest_root(input[i]) >> shift;
  }
}
