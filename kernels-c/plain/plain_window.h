// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sums of products in a window of taps, channel by channel: the inside of every depthwise convolution here.
#ifndef PLAIN_WINDOW_H
#define PLAIN_WINDOW_H

#include "plain.h"

enum { PLAIN_WINDOW_CHANNELS = 8 };

// The taps of one output pixel that lie inside the input, and a few channels. The assembly reads this struct, in this
// order.
typedef struct {
  const int8_t *input, *filter;        // first tap, first channel
  int32_t input_column, filter_column; // bytes from one tap of a row to the next
  int32_t input_skip, filter_skip;     // bytes from behind the last tap of a row to the next row's first
  int32_t rows, columns;               // none is 0
  int32_t input_channel;               // bytes from one channel of the input to the next: 1, or 0 for the same again
  int32_t channels;                    // at least 1
  int32_t offset;                      // of the input
  int32_t sum[PLAIN_WINDOW_CHANNELS];  // the results: sum((x + offset) * w)
} plain_window;

void plain_multiply_window(plain_window *window);

#endif
