// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The loop over frames that overlap.
#ifndef DMO_SIGNAL_OVERLAP_LOOP_H
#define DMO_SIGNAL_OVERLAP_LOOP_H

// `sum` is a function of what is kept and an element of the input.
#define DMO_SIGNAL_OVERLAP_ADD(sum)                                                         \
  do {                                                                                     \
    for (int32_t frame = 0; frame < size->rows * size->frames; ++frame) {                  \
      const int32_t at = frame / size->frames * size->frame, kept_after = size->frame - size->step; \
      for (int32_t i = 0; i < size->frame; ++i) {                                          \
        kept[at + i] = sum(kept[at + i], *input++);                                        \
      }                                                                                    \
      for (int32_t i = 0; i < size->step; ++i) {                                           \
        *output++ = kept[at + i];                                                          \
      }                                                                                    \
      for (int32_t i = 0; i < size->frame; ++i) {                                          \
        kept[at + i] = i < kept_after ? kept[at + size->step + i] : 0;                     \
      }                                                                                    \
    }                                                                                      \
  } while (0)

#endif
