// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle_operators.h"

#include <math.h>
#include <stdlib.h>

// Where an output coordinate falls in the input, before bilinear interpolation moves it by half a pixel.
static double coordinate_of(const dmo_resize_params *params, int64_t output, int32_t input_extent,
                            int32_t output_extent) {
  const double at = (double)output + (params->half_pixel_centers != 0 ? 0.5 : 0.0);
  if (params->align_corners != 0 && output_extent > 1) {
    return at * (double)(input_extent - 1) / (double)(output_extent - 1);
  }
  return at * (double)input_extent / (double)output_extent;
}

oracle_nearest oracle_resize_nearest(const dmo_resize_params *params, int64_t output, int32_t input_extent,
                                     int32_t output_extent) {
  const double coordinate = coordinate_of(params, output, input_extent, output_extent);
  const double up = params->align_corners != 0 ? 0.5 : 0.0;
  return (oracle_nearest){
    .low = oracle_clamp((int64_t)floor(coordinate + up - 1e-5), 0, input_extent - 1),
    .high = oracle_clamp((int64_t)floor(coordinate + up + 1e-5), 0, input_extent - 1),
  };
}

// In 1/1024, kept inside the input.
static int64_t fixed_coordinate(const dmo_resize_params *params, int64_t output, int32_t input_extent,
                                int32_t output_extent) {
  const int aligned = params->align_corners != 0 && output_extent > 1;
  const int64_t from = aligned ? input_extent - 1 : input_extent;
  const int64_t to = aligned ? output_extent - 1 : output_extent;
  const int64_t ratio = oracle_divide_rounding(1024 * from, to);
  const int64_t moved = params->half_pixel_centers != 0 ? ratio / 2 - 512 : 0;
  return oracle_clamp(output * ratio + moved, 0, 1024 * ((int64_t)input_extent - 1));
}

int32_t oracle_resize_bilinear_s8(const dmo_resize_params *params, const dmo_shape *input_shape, const int8_t *input,
                                  const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const int64_t y = fixed_coordinate(params, at.h, input_shape->h, output_shape->h);
  const int64_t x = fixed_coordinate(params, at.w, input_shape->w, output_shape->w);
  int64_t sum = 0;
  for (int64_t iy = 0; iy < input_shape->h; ++iy) {
    for (int64_t ix = 0; ix < input_shape->w; ++ix) {
      const int64_t weight_y = 1024 - llabs(y - 1024 * iy);
      const int64_t weight_x = 1024 - llabs(x - 1024 * ix);
      if (weight_y > 0 && weight_x > 0) {
        sum += weight_y * weight_x * input[oracle_index(input_shape, at.n, iy, ix, at.c)];
      }
    }
  }
  return (int32_t)oracle_divide_rounding(sum, 1024 * 1024);
}

double oracle_resize_bilinear_f32(const dmo_resize_params *params, const dmo_shape *input_shape, const float *input,
                                  const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const double moved = params->half_pixel_centers != 0 ? -0.5 : 0.0;
  const double y = oracle_clamp_f64(coordinate_of(params, at.h, input_shape->h, output_shape->h) + moved, 0.0,
                                    (double)(input_shape->h - 1));
  const double x = oracle_clamp_f64(coordinate_of(params, at.w, input_shape->w, output_shape->w) + moved, 0.0,
                                    (double)(input_shape->w - 1));
  double sum = 0.0;
  for (int64_t iy = 0; iy < input_shape->h; ++iy) {
    for (int64_t ix = 0; ix < input_shape->w; ++ix) {
      const double weight_y = fmax(0.0, 1.0 - fabs(y - (double)iy));
      const double weight_x = fmax(0.0, 1.0 - fabs(x - (double)ix));
      sum += weight_y * weight_x * (double)input[oracle_index(input_shape, at.n, iy, ix, at.c)];
    }
  }
  return sum;
}
