// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One pixel of a depthwise convolution with multiplier 1, by any window, in the fast ways.
#ifndef DSP_WINDOW_H
#define DSP_WINDOW_H

#include "dsp.h"

#if DSP_INSTRUCTIONS

// What the assembly reads, and in part advances, in this order.
typedef struct {
  const int8_t *input, *filter;          // first tap, first channel
  int32_t input_column, filter_column;   // bytes from one tap of a row to the next
  uint32_t offsets;
  int32_t columns, rows;                 // at least 1
  int32_t input_skip, filter_skip;       // bytes from behind the last tap of a row to the next row
  int8_t *output, *output_end;
  const int32_t *bias, *multiplier, *shift;
  int32_t half_offset, saturated_min, min; // of dsp_range
} dsp_window;

// Stores the outputs of whole blocks of four channels, at least one, each after its loads.
void dsp_multiply_window(dsp_window *window);

#endif
#endif
