// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Resizing of images: input [N, H, W, C], output [N, H, W, C] with equal N and C. Output and input do not overlap
// unless a planner proved it safe; see dmo_conv.h.
#ifndef DMO_RESIZE_H
#define DMO_RESIZE_H

#include "dmo_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where output coordinate o of O falls among I input coordinates:
//   align_corners and O > 1:  o * (I - 1) / (O - 1)     the centres of the corner pixels coincide
//   else:                     o * I / O
// half_pixel_centers takes o + 1/2 for o; bilinear then subtracts 1/2 from the result. Each field is 0 or 1. Nearest
// allows both at once, bilinear does not.
typedef struct {
  int32_t align_corners, half_pixel_centers;
} dmo_resize_params;

// The nearest pixel: the coordinate, in single precision, rounded to nearest (halves up) with align_corners, else down;
// at least 0, at most I - 1.
// Loop order: n, h, w; one memcpy of C elements for each output pixel, so that no overlap is safe. element_bytes is the
// element's size. Scratch: none.
void dmo_resize_nearest(const dmo_resize_params *params, int32_t element_bytes,
                        const dmo_shape *input_shape, const void *input,
                        const dmo_shape *output_shape, void *output);

// Bilinear interpolation between rows y0, y1 and columns x0, x1: the coordinate rounded down and up, at least 0 and at
// most I - 1. Coordinates have 10 fractional bits for 8 bit (the ratio is rounded to them first) and are single
// precision for float. The 8-bit result is rounded to nearest, halves away from zero. 8 bit: H, W are at most 2^10.
// Loop order: n, h, w, c of the output; loads (y0, x0), (y0, x1), (y1, x0), (y1, x1), then stores. Scratch: none.
void dmo_resize_bilinear_s8(const dmo_resize_params *params, const dmo_shape *input_shape, const int8_t *input,
                            const dmo_shape *output_shape, int8_t *output);
void dmo_resize_bilinear_f32(const dmo_resize_params *params, const dmo_shape *input_shape, const float *input,
                             const dmo_shape *output_shape, float *output);

#ifdef __cplusplus
}
#endif

#endif
