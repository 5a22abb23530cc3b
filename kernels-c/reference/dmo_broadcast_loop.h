// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The loops of operators of two inputs with broadcasting.
#ifndef DMO_BROADCAST_LOOP_H
#define DMO_BROADCAST_LOOP_H

#include "dmo_broadcast_offset.h"

// For each element of the output, in flat order: loads an element of each input as a and b, then stores the value of an
// expression of both.
#define DMO_BROADCAST(type1, type2, expression)                                             \
  do {                                                                                      \
    int32_t at = 0;                                                                         \
    for (int32_t n = 0; n < output_shape->n; ++n) {                                         \
      for (int32_t h = 0; h < output_shape->h; ++h) {                                       \
        for (int32_t w = 0; w < output_shape->w; ++w) {                                     \
          for (int32_t c = 0; c < output_shape->c; ++c, ++at) {                             \
            const type1 a = (type1)input1[dmo_broadcast_offset(input1_shape, n, h, w, c)];  \
            const type2 b = (type2)input2[dmo_broadcast_offset(input2_shape, n, h, w, c)];  \
            output[at] = (expression);                                                      \
          }                                                                                 \
        }                                                                                   \
      }                                                                                     \
    }                                                                                       \
  } while (0)

#endif
