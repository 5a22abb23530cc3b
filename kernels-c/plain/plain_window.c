// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_window.h"

void plain_multiply_window(plain_window *window) {
  for (int32_t c = 0; c < window->channels; ++c) {
    const int8_t *input = window->input + c * window->input_channel;
    const int8_t *filter = window->filter + c;
    int32_t sum = 0;
    for (int32_t y = window->rows; y != 0; --y) {
      for (int32_t x = window->columns; x != 0; --x) {
        sum += (*input + window->offset) * *filter;
        input += window->input_column;
        filter += window->filter_column;
      }
      input += window->input_skip;
      filter += window->filter_skip;
    }
    window->sum[c] = sum;
  }
}
