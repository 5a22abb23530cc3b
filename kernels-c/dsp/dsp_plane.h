// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Depthwise convolutions of a single input channel, a plane: every output channel reads the same windows, so four of
// them are widened to 16 bit once for all channels.
#ifndef DSP_PLANE_H
#define DSP_PLANE_H

#include "dsp_multiply.h"

// A layer: the numbers of its channels, and where windows and outputs lie.
typedef struct {
  dsp_range range;
  dsp_way way;
  const int8_t *filter;                     // [taps, channels]
  const int32_t *bias, *multiplier, *shift; // bias: or NULL
  int32_t channels, input_offset;
  int32_t height, width;                    // of the plane
  int32_t row, column;                      // bytes from one row and one column of it to the next
  int32_t taps_h, taps_w;
  int32_t stride_h, stride_w, dilation_h, pad_h, pad_w;
  int32_t out_height, out_width, out_row, out_column; // as of the input
} dsp_plane;

// At most.
enum { DSP_PLANE_TAPS = 80, DSP_PLANE_STRIDE = 4 };

// Of such a layer windows have their columns next to each other, as four windows share them. What stands for a column
// outside the plane is the byte that the offset makes 0, so that must be one.
DSP_INLINE bool dsp_is_plane(int32_t in_channels, int32_t channels, int32_t taps, int32_t stride_w, int32_t dilation_w,
                             int32_t input_offset) {
  return in_channels == 1 && channels > 1 && taps <= DSP_PLANE_TAPS && stride_w <= DSP_PLANE_STRIDE &&
         dilation_w == 1 && input_offset > INT8_MIN;
}

// Order: four pixels of a row at a time; all their loads of the input come before their stores.
void dsp_convolve_plane(const dsp_plane *plane, const int8_t *input, int8_t *output);

#endif
