// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"

void dmo_signal_window_s16(int32_t width, int32_t shift, int32_t count, const int16_t *input, const int16_t *window,
                           int16_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t product = (input[i] * window[i % width]) >> shift;
    output[i] = (int16_t)(product < INT16_MIN ? INT16_MIN : product > INT16_MAX ? INT16_MAX : product);
  }
}
