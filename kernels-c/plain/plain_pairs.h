// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Outputs of two pixels or one, pairs of channels at a time: the inside of every convolution and fully connected layer
// here.
#ifndef PLAIN_PAIRS_H
#define PLAIN_PAIRS_H

#include "plain.h"

// The assembly reads this struct, in this order, and advances the ends of the filters and minus_channels. Where a
// pointer is to an end, it is indexed by minus_channels.
typedef struct {
  const int8_t *patch0_end, *patch1_end;       // two patches of minus_columns bytes
  const int8_t *filter0_end, *filter1_end;     // of the first two filters of that size
  int32_t minus_columns;
  int32_t minus_channels;                      // even, and not 0
  const int32_t *start_end;                    // of each channel, what its sums begin with
  const int32_t *multiplier_end, *shift_end;   // a channel that plain_requantize does not take gets any value
  int8_t *output0_end, *output1_end;
  int32_t offset, min, max;                    // of the output
  int32_t raised_offset, saturated_min;        // offset + 127 - max; min + 127 - max
  int32_t input_offset;                        // of plain_convolve_single
} plain_pairs;

// Order: pairs of channels | columns; the four outputs of a pair are stored after its loads.
void plain_convolve_pairs(plain_pairs *pairs);

// The same for patch 0 alone, to whose bytes the offset is added.
void plain_convolve_single(plain_pairs *pairs);

#endif
