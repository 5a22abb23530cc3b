// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where a broadcast input's element for the output coordinates (n, h, w, c) lies: on an axis of extent 1 its one
// coordinate is 0.
#ifndef DMO_BROADCAST_OFFSET_H
#define DMO_BROADCAST_OFFSET_H

#include "dmo_shape.h"

static inline int32_t dmo_broadcast_offset(const dmo_shape *shape, int32_t n, int32_t h, int32_t w, int32_t c) {
  return dmo_offset(shape, shape->n == 1 ? 0 : n, shape->h == 1 ? 0 : h, shape->w == 1 ? 0 : w,
                    shape->c == 1 ? 0 : c);
}

#endif
