// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Weights of 4 bits: a filter is one stream of them over all channels, two in a byte, the first in the lower half. So a
// channel with an odd number of weights ends, or begins, within a byte. Weights are counted from the start of the
// stream, and no byte without one that is asked for is loaded.
#ifndef DSP_INT4_H
#define DSP_INT4_H

#include "dsp_multiply.h"

// Eight weights of a word, whose bits of sign are inverted: so each is 8 more than it was, and not negative.
DSP_INLINE uint32_t dsp_raise8(uint32_t word) {
  return word ^ 0x88888888u;
}

// Eight weights, the first lowest, from weight `first` on.
DSP_INLINE uint32_t dsp_load_int4x8(const int8_t *packed, int32_t first) {
  const int8_t *const from = &packed[first / 2];
  if (first % 2 == 0) {
    return dsp_load4(from);
  }
  return dsp_load4(from) >> 4 | (uint32_t)from[4] << 28;
}

// Four weights, and in the upper half of the word anything.
DSP_INLINE uint32_t dsp_load_int4x4(const int8_t *packed, int32_t first) {
  const uint8_t *const from = (const uint8_t *)&packed[first / 2];
  const uint32_t two = (uint32_t)from[0] | (uint32_t)from[1] << 8;
  return first % 2 == 0 ? two : two >> 4 | (uint32_t)from[2] << 12;
}

// The lower four of a word as bytes.
DSP_INLINE uint32_t dsp_bytes_of_int4(uint32_t word) {
  const uint32_t raised = dsp_raise8(word);
  const uint32_t halves = (raised & 0xffu) | (raised & 0xff00u) << 8;
  return dsp_subtract4((halves | halves << 4) & 0x0f0f0f0fu, 0x08080808u);
}

DSP_INLINE int32_t dsp_int4_at(const int8_t *packed, int32_t index) {
  const uint32_t byte = (uint8_t)packed[index / 2];
  return (int32_t)((index % 2 == 0 ? byte & 15u : byte >> 4) ^ 8u) - 8;
}

// `count` weights as bytes.
void dsp_unpack(const int8_t *packed, int32_t first, int32_t count, int8_t *to);

// A layer, all of whose channels, or those of one group, multiply the same rows.
typedef struct {
  dsp_filters filters; // without filters.filter
  const int8_t *packed;
  int32_t first;       // weight of the first channel
} dsp_int4_filters;

// Stores the outputs of 1 to 4 pixels from four rows that are laid out as dsp_multiply.h says, and lays these out anew.
void dsp_multiply_int4_pixels(const dsp_int4_filters *layer, uint32_t *rows, int32_t pixels, int8_t *output,
                              int32_t pixel_bytes);

#endif
