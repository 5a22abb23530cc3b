// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the poolings with 16-bit activations share.
#ifndef DSP_POOL_S16_H
#define DSP_POOL_S16_H

#include "arm_nnfunctions.h"
#include "dsp_wide.h"

// The part of one pixel's window that lies inside the input. Distances are in elements.
typedef struct {
  const int16_t *input;         // first element, first channel
  int32_t rows, columns;        // 0 rows if all lies outside
  int32_t column_step, row_step; // from one element of a row to the next, and from behind a row's last to the next row
} dsp_pool_window_s16;

DSP_INLINE dsp_pool_window_s16 dsp_make_pool_window_s16(const cmsis_nn_pool_params *params,
                                                        const cmsis_nn_dims *input_dims, const int16_t *batch,
                                                        const cmsis_nn_dims *filter_dims, int32_t oy, int32_t ox) {
  const int32_t top = oy * params->stride.h - params->padding.h;
  const int32_t left = ox * params->stride.w - params->padding.w;
  const int32_t y = top < 0 ? 0 : top;
  const int32_t x = left < 0 ? 0 : left;
  const int32_t bottom = top + filter_dims->h < input_dims->h ? top + filter_dims->h : input_dims->h;
  const int32_t right = left + filter_dims->w < input_dims->w ? left + filter_dims->w : input_dims->w;
  const bool any = bottom > y && right > x;
  const int32_t columns = any ? right - x : 0;
  return (dsp_pool_window_s16){ .input = any ? &batch[(y * input_dims->w + x) * input_dims->c] : batch,
                                .rows = any ? bottom - y : 0,
                                .columns = columns,
                                .column_step = input_dims->c,
                                .row_step = (input_dims->w - columns) * input_dims->c };
}

// Stores the outputs of one pixel, whose window has elements.
typedef void dsp_pool_pixel_s16(const dsp_pool_window_s16 *window, int32_t channels, int32_t min, int32_t max,
                                int16_t *output);

// Calls `store_pixel` for each pixel, in order.
DSP_INLINE arm_cmsis_nn_status dsp_pool_s16(const cmsis_nn_pool_params *params, const cmsis_nn_dims *input_dims,
                                            const int16_t *input, const cmsis_nn_dims *filter_dims,
                                            const cmsis_nn_dims *output_dims, int16_t *output,
                                            dsp_pool_pixel_s16 *store_pixel) {
  if (input_dims->n < 1) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t min = params->activation.min, max = params->activation.max;
  const int32_t channels = input_dims->c;
  for (int32_t b = 0; b < input_dims->n; ++b) {
    for (int32_t oy = 0; oy < output_dims->h; ++oy) {
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        const dsp_pool_window_s16 window = dsp_make_pool_window_s16(params, input_dims, input, filter_dims, oy, ox);
        if (window.rows == 0) {
          return ARM_CMSIS_NN_ARG_ERROR;
        }
        store_pixel(&window, channels, min, max, output);
        output += channels;
      }
    }
    input += input_dims->h * input_dims->w * channels;
  }
  return ARM_CMSIS_NN_SUCCESS;
}

#endif
