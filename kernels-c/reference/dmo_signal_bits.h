// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef DMO_SIGNAL_BITS_H
#define DMO_SIGNAL_BITS_H

#include <stdint.h>

// How many bits a number takes that is not 0.
static inline int32_t dmo_signal_bits(uint32_t number) {
  int32_t bits = 0;
  while (number != 0) {
    number >>= 1;
    ++bits;
  }
  return bits;
}

#endif
