// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Outputs of one pixel of a depthwise convolution, channel by channel.
#ifndef PLAIN_WINDOW_H
#define PLAIN_WINDOW_H

#include "plain.h"

// The taps of one pixel that lie inside the input, and its channels. The assembly reads this struct, in this order, and
// advances minus_channels. Where a pointer is to an end, it is indexed by minus_channels.
typedef struct {
  const int8_t *input_end, *filter_end;      // first tap; input_end, too, is indexed by minus_channels & input_mask
  int32_t input_column, filter_column;       // bytes from one tap of a row to the next
  int32_t input_row, filter_row;             // bytes from one row's first tap to the next row's
  int32_t rows, columns;                     // none is 0
  int32_t minus_channels;                    // not 0
  int32_t input_mask;                        // -1, or 0 if all channels read the same one of the input
  int32_t input_offset;
  const int32_t *start_end;                  // of each channel, what its sum begins with
  const int32_t *multiplier_end, *shift_end; // a channel that plain_requantize does not take gets any value
  int8_t *output_end;
  int32_t offset, min, max;                  // of the output
  int32_t raised_offset, saturated_min;      // offset + 127 - max; min + 127 - max
} plain_window;

// What the assembly takes.
#if PLAIN_THUMB == 2
enum { PLAIN_WINDOW_COLUMNS = INT32_MAX };
#else
enum { PLAIN_WINDOW_COLUMNS = 8 };
#endif

// Stores each output after its loads.
void plain_convolve_window(plain_window *window);

#endif
