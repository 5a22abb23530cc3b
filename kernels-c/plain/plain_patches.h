// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef PLAIN_PATCHES_H
#define PLAIN_PATCHES_H

#include "arm_nnfunctions.h"

// Where the patches of a layer come from, for one batch and group.
typedef struct {
  const cmsis_nn_conv_params *params;
  const cmsis_nn_dims *input_dims, *filter_dims;
  const int8_t *input; // first channel of the group, at position 0, 0
} plain_patch_source;

static inline int32_t plain_patch_bytes(const cmsis_nn_dims *filter_dims) {
  return filter_dims->h * filter_dims->w * filter_dims->c;
}

// The patch whose first tap is at (top, left). Taps outside the input are the byte that the offset makes 0.
void plain_gather_patch(const plain_patch_source *source, int8_t *to, int32_t top, int32_t left);

#endif
