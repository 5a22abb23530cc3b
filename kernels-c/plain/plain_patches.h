// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef PLAIN_PATCHES_H
#define PLAIN_PATCHES_H

#include "arm_nnfunctions.h"
#include "plain.h"

// Where the patches of a layer come from, for one batch and group.
typedef struct {
  const cmsis_nn_conv_params *params;
  const cmsis_nn_dims *input_dims, *filter_dims;
  const int8_t *input; // first channel of the group, at position 0, 0
} plain_patch_source;

static inline int32_t plain_patch_bytes(const cmsis_nn_dims *filter_dims) {
  return filter_dims->h * filter_dims->w * filter_dims->c;
}

// A pixel: its column, and where the first tap of its window is.
typedef struct {
  int32_t column, top, left;
} plain_pixel;

PLAIN_INLINE plain_pixel plain_first_pixel(const cmsis_nn_conv_params *params) {
  return (plain_pixel){ 0, -params->padding.h, -params->padding.w };
}

// The next one, of an output of this width.
PLAIN_INLINE plain_pixel plain_next_pixel(const cmsis_nn_conv_params *params, int32_t width, plain_pixel pixel) {
  pixel.left += params->stride.w;
  if (++pixel.column == width) {
    pixel.column = 0;
    pixel.left = -params->padding.w;
    pixel.top += params->stride.h;
  }
  return pixel;
}

// The patch whose first tap is at (top, left). Taps outside the input are the byte that the offset makes 0.
void plain_gather_patch(const plain_patch_source *source, int8_t *to, int32_t top, int32_t left);

// Those of two pixels, or of the first alone, one behind the other.
PLAIN_INLINE void plain_gather_patches(const plain_patch_source *source, int8_t *to, plain_pixel first,
                                       plain_pixel second, int32_t pixels) {
  plain_gather_patch(source, to, first.top, first.left);
  if (pixels == 2) {
    plain_gather_patch(source, to + plain_patch_bytes(source->filter_dims), second.top, second.left);
  }
}

#endif
