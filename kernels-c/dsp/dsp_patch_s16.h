// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Patches of two pixels, in the order in which filters of bytes are multiplied with them: of every four columns
// first those that are even, then those that are odd, since that is how four bytes become pairs. After each pixel's
// group of four comes the other's. Columns behind the last group come singly, the pixels' next to each other.
#ifndef DSP_PATCH_S16_H
#define DSP_PATCH_S16_H

#include "arm_nnfunctions.h"
#include "dsp_wide.h"

// Where the patches of a batch come from.
typedef struct {
  const cmsis_nn_conv_params *params;
  const cmsis_nn_dims *input_dims, *filter_dims;
  const int16_t *input; // at position 0, 0
  int32_t columns;      // of a patch
} dsp_patches_s16;

DSP_INLINE int32_t dsp_patch_bytes_s16(int32_t columns) {
  return 2 * columns * (int32_t)sizeof(int16_t);
}

// Stores the patch whose first tap is at (top, left), as that of pixel 0 or 1; input: the first channel of the group.
// Taps outside the input are 0. Order: the input is loaded upwards.
void dsp_load_patch_s16(const dsp_patches_s16 *patches, const int16_t *input, uint32_t *to, int32_t pixel, int32_t top,
                        int32_t left);

#endif
