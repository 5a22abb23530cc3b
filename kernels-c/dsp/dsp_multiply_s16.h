// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Filters times the patches of two pixels.
#ifndef DSP_MULTIPLY_S16_H
#define DSP_MULTIPLY_S16_H

#include "dsp_wide.h"

// What all pixels of a layer, or of a group of it, share.
typedef struct {
  const int8_t *filter;   // `channels` filters of `columns` weights
  dsp_scales scales;
  const int32_t *bias32; // NULL, or the biases: then sums have 32 bits, and are requantised by dmo_requantize
  int32_t channels, columns;
  bool is_int32;         // the same without a bias
  bool is_fast;          // dsp_are_fast
} dsp_filters_s16;

// Stores the outputs of the first `pixels` of two pixels, whose patches are as in dsp_patch_s16.h; the second pixel's
// outputs lie `apart` elements behind the first's, or are not stored. The patches of a single pixel are both its own.
// Order: for each two channels their filters and the patches are
// loaded, then the outputs are stored.
void dsp_multiply_pixels_s16(const dsp_filters_s16 *filters, const uint32_t *patches, int32_t pixels, int16_t *output,
                             int32_t apart);

#endif
