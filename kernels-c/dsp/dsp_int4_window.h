// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the depthwise convolutions with weights of 4 bits share, here and in plain: the walk over a layer's pixels, and
// of each its window.
#ifndef DSP_INT4_WINDOW_H
#define DSP_INT4_WINDOW_H

#include "arm_nnfunctions.h"
#include "dsp.h"
#include "dsp_taps.h"

// One output pixel: the taps that lie inside the input, and their weights, counted in the filter.
typedef struct {
  const int8_t *input, *packed;
  int32_t weight;
  int32_t rows, columns;
  int32_t input_row, input_column;   // from one tap to the next
  int32_t weight_row, weight_column;
  int32_t offset;
} dsp_int4_window;

// Stores the outputs of one pixel.
typedef void dsp_int4_pixel(const void *layer, const dsp_int4_window *window, int8_t *output);

// Calls `store_pixel` for each pixel, in order.
DSP_INLINE void dsp_walk_int4(const cmsis_nn_dw_conv_params *params, const cmsis_nn_dims *input_dims,
                              const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
                              const cmsis_nn_dims *output_dims, int8_t *output, dsp_int4_pixel *store_pixel,
                              const void *layer) {
  const int32_t in_channels = input_dims->c, channels = output_dims->c, line = input_dims->w * in_channels;
  dsp_int4_window window = {
    .packed = filter,
    .input_row = params->dilation.h * line,
    .input_column = params->dilation.w * in_channels,
    .weight_row = filter_dims->w * channels,
    .weight_column = channels,
    .offset = params->input_offset,
  };
  for (int32_t b = 0; b < output_dims->n; ++b) {
    for (int32_t oy = 0; oy < output_dims->h; ++oy) {
      const int32_t top = oy * params->stride.h - params->padding.h;
      const dsp_taps rows = dsp_taps_inside(top, params->dilation.h, filter_dims->h, input_dims->h);
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        const int32_t left = ox * params->stride.w - params->padding.w;
        const dsp_taps columns = dsp_taps_inside(left, params->dilation.w, filter_dims->w, input_dims->w);
        const bool any = rows.count != 0 && columns.count != 0;
        const int32_t y = top + rows.first * params->dilation.h, x = left + columns.first * params->dilation.w;
        window.input = any ? &input[y * line + x * in_channels] : input;
        window.weight = any ? (rows.first * filter_dims->w + columns.first) * channels : 0;
        window.rows = any ? rows.count : 0;
        window.columns = columns.count;
        store_pixel(layer, &window, output);
        output += channels;
      }
    }
    input += input_dims->h * line;
  }
}

#endif
