// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_int4.h"

#include <string.h>

void plain_unpack(const int8_t *packed, int32_t first, int32_t count, int8_t *to) {
  const int8_t *from = &packed[first / 2];
  if (first % 2 != 0 && count > 0) {
    *to++ = (int8_t)plain_upper(*from++);
    --count;
  }
  for (; count >= 2; count -= 2) {
    const int32_t byte = *from++;
    to[0] = (int8_t)plain_lower(byte);
    to[1] = (int8_t)plain_upper(byte);
    to += 2;
  }
  if (count != 0) {
    *to = (int8_t)plain_lower(*from);
  }
}

// Four bytes at a time, whose weights are raised by 8 so that none is negative.
int32_t plain_int4_sum(const int8_t *packed, int32_t first, int32_t count) {
  const int8_t *from = &packed[first / 2];
  int32_t sum = 0;
  if (first % 2 != 0 && count > 0) {
    sum += plain_upper(*from++);
    --count;
  }
  for (; count >= 8; count -= 8) {
    uint32_t word;
    memcpy(&word, from, sizeof word);
    word ^= 0x88888888u;
    const uint32_t bytes = (word & 0x0f0f0f0fu) + (word >> 4 & 0x0f0f0f0fu);
    sum += (int32_t)(bytes * 0x01010101u >> 24) - 64;
    from += 4;
  }
  for (; count >= 2; count -= 2) {
    const int32_t byte = *from++;
    sum += plain_lower(byte) + plain_upper(byte);
  }
  return count != 0 ? sum + plain_lower(*from) : sum;
}
