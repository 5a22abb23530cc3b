// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_map.h"
#include "dmo_unary.h"

void dmo_lookup_s8(const int8_t table[256], int32_t count, const int8_t *input, int8_t *output) {
  DMO_MAP(int8_t, table[(uint8_t)x]);
}
