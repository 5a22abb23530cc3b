// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the pixel of a tensor whose batches are the pixels of blocks lies in the image.
#ifndef DMO_BATCH_OFFSET_H
#define DMO_BATCH_OFFSET_H

#include "dmo_move.h"

// The offset of the pixel's first element; -1 if it lies outside of the image.
static inline int32_t dmo_batch_offset(const dmo_batch_params *params, const dmo_shape *image, int32_t batch, int32_t h,
                                       int32_t w) {
  const int32_t shift = batch / image->n;
  const int32_t row = h * params->block_h + shift / params->block_w - params->before_h;
  const int32_t column = w * params->block_w + shift % params->block_w - params->before_w;
  if (row < 0 || row >= image->h || column < 0 || column >= image->w) {
    return -1;
  }
  return dmo_offset(image, batch % image->n, row, column, 0);
}

#endif
