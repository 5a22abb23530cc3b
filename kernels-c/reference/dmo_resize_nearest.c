// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_resize.h"

#include <math.h>
#include <string.h>

static int32_t nearest(const dmo_resize_params *params, int32_t output, int32_t input_extent, int32_t output_extent) {
  const int aligned = params->align_corners != 0;
  const float ratio = aligned && output_extent > 1 ? (float)(input_extent - 1) / (float)(output_extent - 1)
                                                   : (float)input_extent / (float)output_extent;
  const float coordinate = ((float)output + (params->half_pixel_centers != 0 ? 0.5f : 0.0f)) * ratio;
  const int32_t input = (int32_t)(aligned ? roundf(coordinate) : floorf(coordinate));
  return input < input_extent - 1 ? input : input_extent - 1;
}

void dmo_resize_nearest(const dmo_resize_params *params, int32_t element_bytes,
                        const dmo_shape *input_shape, const void *input,
                        const dmo_shape *output_shape, void *output) {
  const int32_t pixel_bytes = output_shape->c * element_bytes;
  char *to = output;
  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      const int32_t y = nearest(params, h, input_shape->h, output_shape->h);
      for (int32_t w = 0; w < output_shape->w; ++w) {
        const int32_t x = nearest(params, w, input_shape->w, output_shape->w);
        memcpy(to, (const char *)input + dmo_offset(input_shape, n, y, x, 0) * element_bytes, (size_t)pixel_bytes);
        to += pixel_bytes;
      }
    }
  }
}
