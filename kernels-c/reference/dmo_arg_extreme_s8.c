// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_along_axis.h"

#include <stdbool.h>

static bool is_better(int32_t greatest, int8_t candidate, int8_t best) {
  return greatest != 0 ? candidate > best : candidate < best;
}

void dmo_arg_extreme_s8(const dmo_axis_size *size, int32_t greatest, const int8_t *input, int32_t *output) {
  for (int32_t b = 0; b < size->before; ++b) {
    for (int32_t a = 0; a < size->after; ++a) {
      const int8_t *column = &input[b * size->extent * size->after + a];
      int8_t best = column[0];
      int32_t index = 0;
      for (int32_t i = 1; i < size->extent; ++i) {
        const int8_t candidate = column[i * size->after];
        if (is_better(greatest, candidate, best)) {
          best = candidate;
          index = i;
        }
      }
      output[b * size->after + a] = index;
    }
  }
}
