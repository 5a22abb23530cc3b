// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Shapes and flat element offsets. Every tensor is dense, four-dimensional and row-major; the last axis varies fastest.
#ifndef DMO_SHAPE_H
#define DMO_SHAPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Activations are [N, H, W, C]. Filters are [O, H, W, I]: n counts filters and c the channels of one filter.
// Every extent is at least 1, and n * h * w * c fits an int32_t.
typedef struct {
  int32_t n, h, w, c;
} dmo_shape;

static inline int32_t dmo_shape_size(const dmo_shape *shape) {
  return shape->n * shape->h * shape->w * shape->c;
}

// The axes of a shape, outermost first.
typedef enum { DMO_AXIS_N = 0, DMO_AXIS_H = 1, DMO_AXIS_W = 2, DMO_AXIS_C = 3 } dmo_axis;

static inline int32_t dmo_shape_extent(const dmo_shape *shape, dmo_axis axis) {
  const int32_t extents[] = { shape->n, shape->h, shape->w, shape->c };
  return extents[axis];
}

// Offset in elements, not bytes. The caller keeps every coordinate in range.
static inline int32_t dmo_offset(const dmo_shape *shape, int32_t n, int32_t h, int32_t w, int32_t c) {
  return ((n * shape->h + h) * shape->w + w) * shape->c + c;
}

#ifdef __cplusplus
}
#endif

#endif
