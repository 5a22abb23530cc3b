// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Patches of a convolution in the order of taps of dmo_dsp_packed.h.
#ifndef PACKED_PATCHES_H
#define PACKED_PATCHES_H

#include "dmo_conv.h"
#include "dsp_multiply.h"

// Where the patches of an image come from.
typedef struct {
  dmo_conv_geometry geometry; // not dilated
  int32_t input_offset;
  int32_t height, width, depth; // of the input
  int32_t taps_h, taps_w;
  int32_t out_width;
  bool is_pointwise; // patches are the pixels themselves, all of a single row
  const int8_t *input;
} packed_patches;

// Groups of a patch: those within rows of taps, and those of what is left of all rows.
DSP_INLINE int32_t packed_groups(const dmo_shape *filter) {
  const int32_t line = filter->w * filter->c;
  return filter->h * (line / DSP_GROUP_COLUMNS) + dsp_groups(filter->h * (line % DSP_GROUP_COLUMNS));
}

// Widens the patches of `count` pixels, 1 to 4, from (oy, ox) on to rows as those of dsp_multiply.h. Rows that no pixel
// needs are copies of the last.
void packed_load_patches(const packed_patches *patches, int32_t oy, int32_t ox, int32_t count, uint32_t *rows);

#endif
