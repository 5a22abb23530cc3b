// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef DSP_TAPS_H
#define DSP_TAPS_H

#include <stdint.h>

// The taps of a window that lie inside the input, along one axis.
typedef struct {
  int32_t first, count;
} dsp_taps;

// Of `taps` taps, the first of which is at `start`, and an input of this extent.
static inline dsp_taps dsp_taps_inside(int32_t start, int32_t dilation, int32_t taps, int32_t extent) {
  int32_t first = start < 0 ? -start : 0;
  int32_t end = start >= extent ? 0 : extent - start;
  if (dilation != 1) {
    first = (first + dilation - 1) / dilation;
    end = (end + dilation - 1) / dilation;
  }
  const int32_t last = end < taps ? end : taps;
  return (dsp_taps){ first, last > first ? last - first : 0 };
}

#endif
