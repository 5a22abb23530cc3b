// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast_offset.h"
#include "dmo_choice.h"

#include <string.h>

// Loads both, and stores one of them by its bits, so that what is loaded does not depend on the condition.
#define CHOOSE(type)                                               \
  do {                                                             \
    type a, b;                                                     \
    memcpy(&a, from1, sizeof a);                                   \
    memcpy(&b, from2, sizeof b);                                   \
    const type mask = (type)(first ? -1 : 0);                      \
    const type chosen = (type)(b ^ ((a ^ b) & mask));              \
    memcpy(to, &chosen, sizeof chosen);                            \
  } while (0)

static void choose(int32_t element_bytes, bool first, const char *from1, const char *from2, char *to) {
  switch (element_bytes) {
  case 1: CHOOSE(uint8_t); break;
  case 2: CHOOSE(uint16_t); break;
  case 4: CHOOSE(uint32_t); break;
  default: CHOOSE(uint64_t); break;
  }
}

void dmo_select(int32_t element_bytes, const dmo_shape *condition_shape, const bool *condition,
                const dmo_shape *input1_shape, const void *input1, const dmo_shape *input2_shape, const void *input2,
                const dmo_shape *output_shape, void *output) {
  char *to = output;
  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      for (int32_t w = 0; w < output_shape->w; ++w) {
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const bool first = condition[dmo_broadcast_offset(condition_shape, n, h, w, c)];
          const int32_t at1 = dmo_broadcast_offset(input1_shape, n, h, w, c);
          const int32_t at2 = dmo_broadcast_offset(input2_shape, n, h, w, c);
          choose(element_bytes, first, (const char *)input1 + at1 * element_bytes,
                 (const char *)input2 + at2 * element_bytes, to);
          to += element_bytes;
        }
      }
    }
  }
}
