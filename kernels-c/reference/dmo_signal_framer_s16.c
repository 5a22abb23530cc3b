// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"
#include "dmo_signal_frame.h"

void dmo_signal_framer_s16(const dmo_signal_framer_size *size, const int16_t *input, int16_t *kept, int32_t *count,
                           int16_t *output, bool *valid) {
  const int32_t capacity = (size->frame + size->step - 1) / size->step * size->step;
  const int32_t before = *count + size->prefill;
  int32_t left = before;
  bool are_all = true;
  for (int32_t row = 0; row < size->rows; ++row) {
    // All rows are equally long, and so is what is kept of them.
    left = before;
    for (int32_t frame = 0; frame < size->frames; ++frame) {
      left = dmo_signal_append(input, size->step, kept, left);
      are_all = are_all && left >= size->frame;
      left = dmo_signal_take(size->frame, size->step, kept, left, output);
      input += size->step;
      output += size->frame;
    }
    kept += capacity;
  }
  *count = left - size->prefill;
  *valid = are_all;
}
