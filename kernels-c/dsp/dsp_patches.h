// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The patches of four pixels, widened to 16 bit: what the convolutions multiply their filters with.
#ifndef DSP_PATCHES_H
#define DSP_PATCHES_H

#include "dsp_convolve.h"

// Where the patches of a layer come from, for one batch and group.
typedef struct {
  const cmsis_nn_conv_params *params;
  const cmsis_nn_dims *input_dims, *filter_dims;
  const int8_t *input; // first channel of the group, at position 0, 0
} dsp_patch_source;

// Rows are filled group by group if no tap of a patch begins within a group of columns; else the patch is gathered byte
// by byte first.
static inline bool dsp_is_gathered(const cmsis_nn_dims *filter_dims) {
  return filter_dims->c % DSP_GROUP_COLUMNS != 0 && filter_dims->h * filter_dims->w != 1;
}

static inline int32_t dsp_patch_columns(const cmsis_nn_dims *filter_dims) {
  return filter_dims->h * filter_dims->w * filter_dims->c;
}

// The patches of up to four pixels, the first of which is (oy, ox). Rows that no pixel needs are copies of the last.
// bytes: as many as a patch has in whole groups, if it is gathered.
void dsp_load_patches(const dsp_patch_source *source, const cmsis_nn_dims *output_dims, int32_t oy, int32_t ox,
                      int32_t count, uint32_t *rows, int8_t *bytes);

#endif
