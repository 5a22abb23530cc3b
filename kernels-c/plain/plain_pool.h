// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the poolings share.
#ifndef PLAIN_POOL_H
#define PLAIN_POOL_H

#include "arm_nnfunctions.h"
#include "plain.h"

// The part of one pixel's window that lies inside the input.
typedef struct {
  const int8_t *input; // first element, first channel
  int32_t rows, columns;
  int32_t column, skip; // bytes from one element of a row to the next, and from behind the last to the next row
} plain_pool;

static inline plain_pool plain_pool_at(const cmsis_nn_pool_params *params, const cmsis_nn_dims *input_dims,
                                       const int8_t *batch, const cmsis_nn_dims *filter_dims, int32_t oy, int32_t ox) {
  const int32_t top = oy * params->stride.h - params->padding.h;
  const int32_t left = ox * params->stride.w - params->padding.w;
  const int32_t y = top < 0 ? 0 : top;
  const int32_t x = left < 0 ? 0 : left;
  const int32_t bottom = top + filter_dims->h < input_dims->h ? top + filter_dims->h : input_dims->h;
  const int32_t right = left + filter_dims->w < input_dims->w ? left + filter_dims->w : input_dims->w;
  const int32_t line = input_dims->w * input_dims->c;
  const bool any = bottom > y && right > x;
  return (plain_pool){ .input = any ? &batch[y * line + x * input_dims->c] : batch,
                       .rows = any ? bottom - y : 0,
                       .columns = any ? right - x : 0,
                       .column = input_dims->c,
                       .skip = any ? line - (right - x) * input_dims->c : 0 };
}

#endif
