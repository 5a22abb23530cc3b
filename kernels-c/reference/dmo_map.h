// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The loop of operators of one element.
#ifndef DMO_MAP_H
#define DMO_MAP_H

// For each index upwards: loads the input's element as x, then stores the value of an expression of x.
#define DMO_MAP(type, expression)         \
  do {                                    \
    for (int32_t i = 0; i < count; ++i) { \
      const type x = input[i];            \
      output[i] = (expression);           \
    }                                     \
  } while (0)

#endif
