// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"
#include "dmo_signal_frame.h"

void dmo_signal_stacker_s16(const dmo_signal_stacker_size *size, const int16_t *input, int16_t *kept, int32_t *counts,
                            int16_t *output, bool *valid) {
  const int32_t frame = (size->left + 1 + size->right) * size->channels;
  const int32_t first = counts[0];
  int32_t count = dmo_signal_append(input, size->channels, kept, first);
  if (counts[1] == 0) {
    for (int32_t i = 0; i < size->left; ++i) {
      count = dmo_signal_append(kept + first, size->channels, kept, count);
    }
    counts[1] = 1;
  }
  *valid = count >= frame;
  counts[0] = dmo_signal_take(frame, size->step * size->channels, kept, count, output);
}
