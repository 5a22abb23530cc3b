// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_along_axis.h"

#include <stdbool.h>

// No comparison with NaN holds: a first one stays, later ones are passed over, as in TensorFlow Lite Micro.
static bool is_better(int32_t greatest, float candidate, float best) {
  return greatest != 0 ? candidate > best : candidate < best;
}

void dmo_arg_extreme_f32(const dmo_axis_size *size, int32_t greatest, const float *input, int32_t *output) {
  for (int32_t b = 0; b < size->before; ++b) {
    for (int32_t a = 0; a < size->after; ++a) {
      const float *column = &input[b * size->extent * size->after + a];
      float best = column[0];
      int32_t index = 0;
      for (int32_t i = 1; i < size->extent; ++i) {
        const float candidate = column[i * size->after];
        if (is_better(greatest, candidate, best)) {
          best = candidate;
          index = i;
        }
      }
      output[b * size->after + a] = index;
    }
  }
}
