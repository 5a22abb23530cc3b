// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The loops of cumulative sums.
#ifndef DMO_CUMULATIVE_SUM_LOOP_H
#define DMO_CUMULATIVE_SUM_LOOP_H

#include "dmo_along_axis.h"

static inline int32_t dmo_directed(int32_t reverse, int32_t index, int32_t count) {
  return reverse != 0 ? count - 1 - index : index;
}

// For each position: `before` begins a sum; `step` takes the element at `at`, in the direction and order that the
// parameters say.
#define DMO_CUMULATIVE_SUM(begin, step)                                                                      \
  do {                                                                                                       \
    const dmo_axis_size *size = &params->size;                                                               \
    const int32_t reverse = params->reverse;                                                                 \
    for (int32_t a = 0; a < size->after; ++a) {                                                              \
      for (int32_t b = 0; b < size->before; ++b) {                                                           \
        begin;                                                                                               \
        for (int32_t i = 0; i < size->extent; ++i) {                                                         \
          const int32_t row = dmo_directed(reverse, b, size->before) * size->extent +                        \
                              dmo_directed(reverse, i, size->extent);                                        \
          const int32_t at = row * size->after + dmo_directed(reverse, a, size->after);                      \
          step;                                                                                              \
        }                                                                                                    \
      }                                                                                                      \
    }                                                                                                        \
  } while (0)

#endif
