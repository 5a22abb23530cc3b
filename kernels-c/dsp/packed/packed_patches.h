// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Patches of a convolution in the order of taps of dmo_packed.h.
#ifndef PACKED_PATCHES_H
#define PACKED_PATCHES_H

#include "dmo_conv.h"
#include "dsp_multiply.h"

// Where they come from, and the next pixel of the output.
typedef struct {
  const dmo_conv2d_params *params;
  const dmo_shape *input_shape, *filter_shape, *output_shape;
  const int8_t *input; // of the image
  int32_t y, x;
} packed_patches;

// Groups of a patch: those within rows of taps, and those of what is left of all rows.
DSP_INLINE int32_t packed_groups(const dmo_shape *filter) {
  const int32_t line = filter->w * filter->c;
  return filter->h * (line / DSP_GROUP_COLUMNS) + dsp_groups(filter->h * (line % DSP_GROUP_COLUMNS));
}

DSP_INLINE void packed_skip(packed_patches *patches, int32_t pixels) {
  patches->x += pixels;
  while (patches->x >= patches->output_shape->w) {
    patches->x -= patches->output_shape->w;
    ++patches->y;
  }
}

DSP_INLINE void packed_next_image(packed_patches *patches) {
  const dmo_shape *const in = patches->input_shape;
  patches->input += in->h * in->w * in->c;
  patches->x = 0;
  patches->y = 0;
}

// Widens the patches of the next `count` pixels, 1 to 4, to rows as those of dsp_multiply.h. Rows that no pixel needs
// are copies of the last.
void packed_load_patches(packed_patches *patches, int32_t count, uint32_t *rows);

#endif
