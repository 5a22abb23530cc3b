// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_depthwise_in_place.h"

#include <stddef.h>

// Taps first to end - 1 of an axis lie in the input.
typedef struct {
  int32_t first, end;
} taps_inside;

static taps_inside taps_of(int32_t origin, int32_t taps, int32_t dilation, int32_t extent) {
  taps_inside inside = { 0, taps };
  while (inside.first < taps && origin + inside.first * dilation < 0) {
    ++inside.first;
  }
  while (inside.end > inside.first && origin + (inside.end - 1) * dilation >= extent) {
    --inside.end;
  }
  return inside;
}

void dmo_depthwise_conv2d_in_place_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                      const dmo_shape *input_shape, const int8_t *input,
                                      const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                      const dmo_shape *output_shape, int8_t *output, int8_t *scratch) {
  const dmo_conv_geometry g = params->geometry;
  const int32_t channels = output_shape->c;
  const int32_t input_pixels = input_shape->h * input_shape->w;
  const int32_t output_pixels = output_shape->h * output_shape->w;

  for (int32_t b = 0; b < output_shape->n; ++b) {
    for (int32_t c = 0; c < channels; ++c) {
      const int8_t *loaded = input + b * input_pixels * channels + c;
      for (int32_t pixel = 0; pixel < input_pixels; ++pixel, loaded += channels) {
        scratch[pixel] = *loaded;
      }
      int8_t *stored = output + b * output_pixels * channels + c;
      for (int32_t oy = 0; oy < output_shape->h; ++oy) {
        const int32_t top = oy * g.stride_h - g.pad_h;
        const taps_inside rows = taps_of(top, filter_shape->h, g.dilation_h, input_shape->h);
        for (int32_t ox = 0; ox < output_shape->w; ++ox, stored += channels) {
          const int32_t left = ox * g.stride_w - g.pad_w;
          const taps_inside columns = taps_of(left, filter_shape->w, g.dilation_w, input_shape->w);
          int32_t sum = 0;
          for (int32_t fy = rows.first; fy < rows.end; ++fy) {
            const int8_t *row = scratch + (top + fy * g.dilation_h) * input_shape->w;
            const int8_t *weights = filter + fy * filter_shape->w * channels + c;
            for (int32_t fx = columns.first; fx < columns.end; ++fx) {
              const int32_t value = row[left + fx * g.dilation_w];
              sum += (value + params->input_offset) * weights[fx * channels];
            }
          }
          if (bias != NULL) {
            sum += bias[c];
          }
          sum = dmo_requantize(sum, quant->multiplier[c], quant->shift[c]) + params->output_offset;
          *stored = (int8_t)dmo_clamp(sum, params->activation_min, params->activation_max);
        }
      }
    }
  }
}
