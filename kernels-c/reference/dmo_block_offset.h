// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the element of an image lies in the tensor that has a pixel for each block of it.
#ifndef DMO_BLOCK_OFFSET_H
#define DMO_BLOCK_OFFSET_H

#include "dmo_move.h"

static inline int32_t dmo_block_offset(const dmo_block_params *block, const dmo_shape *deeper, int32_t n, int32_t h,
                                       int32_t w, int32_t c) {
  const int32_t size = block->size, depth = deeper->c / (size * size);
  const int32_t pixel = h % size * size + w % size;
  return dmo_offset(deeper, n, h / size, w / size, pixel * depth + c);
}

#endif
