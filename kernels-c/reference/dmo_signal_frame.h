// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef DMO_SIGNAL_FRAME_H
#define DMO_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

// Puts new elements after those that are kept; returns how many there are then.
static inline int32_t dmo_signal_append(const int16_t *input, int32_t added, int16_t *kept, int32_t count) {
  for (int32_t i = 0; i < added; ++i) {
    kept[count + i] = input[i];
  }
  return count + added;
}

// Stores the oldest frame and forgets the oldest step, if there is a frame; else stores zeros. Returns how many are left.
static inline int32_t dmo_signal_take(int32_t frame, int32_t step, int16_t *kept, int32_t count, int16_t *output) {
  const bool is_there = count >= frame;
  for (int32_t i = 0; i < frame; ++i) {
    output[i] = is_there ? kept[i] : (int16_t)0;
  }
  if (!is_there) {
    return count;
  }
  for (int32_t i = step; i < count; ++i) {
    kept[i - step] = kept[i];
  }
  return count - step;
}

#endif
