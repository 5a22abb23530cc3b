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

#endif
