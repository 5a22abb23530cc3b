// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The loops of reductions that accumulate.
#ifndef DMO_REDUCE_LOOP_H
#define DMO_REDUCE_LOOP_H

#include "dmo_shape.h"

// Stores `start` to all of the accumulators, which have the output's shape; then, for each element of the input in flat
// order, loads it as x and its accumulator as sum, and stores the value of an expression of both to that one.
#define DMO_REDUCE(accumulators, start, type, expression)                                                  \
  do {                                                                                                     \
    const int32_t output_size = dmo_shape_size(output_shape);                                              \
    int32_t at = 0;                                                                                        \
    for (int32_t i = 0; i < output_size; ++i) {                                                            \
      (accumulators)[i] = (start);                                                                         \
    }                                                                                                      \
    for (int32_t n = 0; n < input_shape->n; ++n) {                                                         \
      for (int32_t h = 0; h < input_shape->h; ++h) {                                                       \
        for (int32_t w = 0; w < input_shape->w; ++w) {                                                     \
          for (int32_t c = 0; c < input_shape->c; ++c, ++at) {                                             \
            /* An axis of extent 1 in the output has the one coordinate 0. */                              \
            const int32_t reduced = dmo_offset(output_shape, n % output_shape->n, h % output_shape->h,     \
                                               w % output_shape->w, c % output_shape->c);                  \
            const type x = input[at], sum = (accumulators)[reduced];                                       \
            (accumulators)[reduced] = (expression);                                                        \
          }                                                                                                \
        }                                                                                                  \
      }                                                                                                    \
    }                                                                                                      \
  } while (0)

#endif
