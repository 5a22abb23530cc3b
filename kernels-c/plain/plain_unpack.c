// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_int4.h"

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

int32_t plain_int4_sum(const int8_t *packed, int32_t first, int32_t count) {
  const int8_t *from = &packed[first / 2];
  int32_t sum = 0;
  if (first % 2 != 0 && count > 0) {
    sum += plain_upper(*from++);
    --count;
  }
  for (; count >= 2; count -= 2) {
    const int32_t byte = *from++;
    sum += plain_lower(byte) + plain_upper(byte);
  }
  return count != 0 ? sum + plain_lower(*from) : sum;
}
