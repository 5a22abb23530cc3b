// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_resize.h"

#include <stdint.h>

enum { BITS = 10, ONE = 1 << BITS };

// Two neighbours on one axis, and the weight of the second in 1/1024.
typedef struct {
  int32_t first, second, weight;
} neighbours;

static int32_t ratio_of(const dmo_resize_params *params, int32_t input_extent, int32_t output_extent) {
  if (params->align_corners != 0 && output_extent > 1) {
    return (ONE * (input_extent - 1) + (output_extent - 1) / 2) / (output_extent - 1);
  }
  return (ONE * input_extent + output_extent / 2) / output_extent;
}

static neighbours neighbours_of(const dmo_resize_params *params, int32_t output, int32_t ratio,
                                int32_t input_extent) {
  const int32_t last = ONE * (input_extent - 1);
  int32_t coordinate = output * ratio;
  if (params->half_pixel_centers != 0) {
    coordinate += ratio / 2 - ONE / 2;
  }
  // Outside the input both neighbours are its border.
  coordinate = coordinate < 0 ? 0 : coordinate > last ? last : coordinate;
  return (neighbours){
    .first = coordinate / ONE,
    .second = (coordinate + ONE - 1) / ONE,
    .weight = coordinate % ONE,
  };
}

void dmo_resize_bilinear_s8(const dmo_resize_params *params, const dmo_shape *input_shape, const int8_t *input,
                            const dmo_shape *output_shape, int8_t *output) {
  const int32_t ratio_h = ratio_of(params, input_shape->h, output_shape->h);
  const int32_t ratio_w = ratio_of(params, input_shape->w, output_shape->w);

  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      const neighbours y = neighbours_of(params, h, ratio_h, input_shape->h);
      for (int32_t w = 0; w < output_shape->w; ++w) {
        const neighbours x = neighbours_of(params, w, ratio_w, input_shape->w);
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const int32_t value00 = input[dmo_offset(input_shape, n, y.first, x.first, c)];
          const int32_t value01 = input[dmo_offset(input_shape, n, y.first, x.second, c)];
          const int32_t value10 = input[dmo_offset(input_shape, n, y.second, x.first, c)];
          const int32_t value11 = input[dmo_offset(input_shape, n, y.second, x.second, c)];
          const int32_t sum = (value00 * (ONE - x.weight) + value01 * x.weight) * (ONE - y.weight) +
                              (value10 * (ONE - x.weight) + value11 * x.weight) * y.weight;
          const int32_t half = sum > 0 ? ONE * ONE / 2 : -(ONE * ONE / 2);
          output[dmo_offset(output_shape, n, h, w, c)] = (int8_t)((sum + half) / (ONE * ONE));
        }
      }
    }
  }
}
