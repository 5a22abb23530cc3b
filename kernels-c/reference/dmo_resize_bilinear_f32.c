// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_resize.h"

#include <math.h>

// Two neighbours on one axis, and the weights of both.
typedef struct {
  int32_t first, second;
  float first_weight, second_weight;
} neighbours;

static float ratio_of(const dmo_resize_params *params, int32_t input_extent, int32_t output_extent) {
  if (params->align_corners != 0 && output_extent > 1) {
    return (float)(input_extent - 1) / (float)(output_extent - 1);
  }
  return (float)input_extent / (float)output_extent;
}

static int32_t inside(int32_t coordinate, int32_t extent) {
  return coordinate < 0 ? 0 : coordinate > extent - 1 ? extent - 1 : coordinate;
}

static neighbours neighbours_of(const dmo_resize_params *params, int32_t output, float ratio, int32_t input_extent) {
  const float coordinate =
      params->half_pixel_centers != 0 ? ((float)output + 0.5f) * ratio - 0.5f : (float)output * ratio;
  const int32_t first = inside((int32_t)floorf(coordinate), input_extent);
  const float second_weight = coordinate - (float)first;
  return (neighbours){
    .first = first,
    .second = inside((int32_t)ceilf(coordinate), input_extent),
    .first_weight = 1.0f - second_weight,
    .second_weight = second_weight,
  };
}

void dmo_resize_bilinear_f32(const dmo_resize_params *params, const dmo_shape *input_shape, const float *input,
                             const dmo_shape *output_shape, float *output) {
  const float ratio_h = ratio_of(params, input_shape->h, output_shape->h);
  const float ratio_w = ratio_of(params, input_shape->w, output_shape->w);

  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      const neighbours y = neighbours_of(params, h, ratio_h, input_shape->h);
      for (int32_t w = 0; w < output_shape->w; ++w) {
        const neighbours x = neighbours_of(params, w, ratio_w, input_shape->w);
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const float value00 = input[dmo_offset(input_shape, n, y.first, x.first, c)];
          const float value01 = input[dmo_offset(input_shape, n, y.first, x.second, c)];
          const float value10 = input[dmo_offset(input_shape, n, y.second, x.first, c)];
          const float value11 = input[dmo_offset(input_shape, n, y.second, x.second, c)];
          // Added up column by column.
          output[dmo_offset(output_shape, n, h, w, c)] =
              value00 * y.first_weight * x.first_weight + value10 * y.second_weight * x.first_weight +
              value01 * y.first_weight * x.second_weight + value11 * y.second_weight * x.second_weight;
        }
      }
    }
  }
}
