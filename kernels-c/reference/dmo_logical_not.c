// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_map.h"
#include "dmo_unary.h"

void dmo_logical_not(int32_t count, const bool *input, bool *output) {
  DMO_MAP(bool, !x);
}
