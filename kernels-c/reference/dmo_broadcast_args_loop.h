// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The loop over the extents of two shapes.
#ifndef DMO_BROADCAST_ARGS_LOOP_H
#define DMO_BROADCAST_ARGS_LOOP_H

// An axis that an input does not have has an extent of 1 there.
#define DMO_BROADCAST_ARGS()                                                     \
  do {                                                                           \
    for (int32_t i = 1; i <= size->output; ++i) {                                \
      const int32_t at1 = size->input1 - i, at2 = size->input2 - i;              \
      const int32_t extent1 = at1 < 0 ? 1 : (int32_t)input1[at1];                \
      const int32_t extent2 = at2 < 0 ? 1 : (int32_t)input2[at2];                \
      output[size->output - i] = extent1 == 1 ? extent2 : extent1;               \
    }                                                                            \
  } while (0)

#endif
