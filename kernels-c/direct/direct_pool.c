// SPDX-License-Identifier: MIT OR Apache-2.0
#include "direct.h"

static direct_window rows_of(const dmo_pool_geometry *g, const dmo_shape *input_shape, int64_t output) {
  return direct_window_of(output, g->stride_h, g->pad_h, g->filter_h, 1, input_shape->h);
}

static direct_window columns_of(const dmo_pool_geometry *g, const dmo_shape *input_shape, int64_t output) {
  return direct_window_of(output, g->stride_w, g->pad_w, g->filter_w, 1, input_shape->w);
}

int32_t direct_max_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                           const dmo_shape *output_shape, int32_t index) {
  const direct_position at = direct_position_of(output_shape, index);
  const direct_window rows = rows_of(&params->geometry, input_shape, at.h);
  const direct_window columns = columns_of(&params->geometry, input_shape, at.w);
  int64_t max = INT64_MIN;
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      const int64_t value = input[direct_index(input_shape, at.n, iy, ix, at.c)];
      max = max >= value ? max : value;
    }
  }
  return (int32_t)direct_clamp(max, params->activation_min, params->activation_max);
}

float direct_max_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                          const dmo_shape *output_shape, int32_t index) {
  const direct_position at = direct_position_of(output_shape, index);
  const direct_window rows = rows_of(&params->geometry, input_shape, at.h);
  const direct_window columns = columns_of(&params->geometry, input_shape, at.w);
  double max = (double)input[direct_index(input_shape, at.n, rows.last, columns.last, at.c)];
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      const double value = (double)input[direct_index(input_shape, at.n, iy, ix, at.c)];
      max = max >= value ? max : value;
    }
  }
  return (float)direct_clamp_f64(max, (double)params->activation_min, (double)params->activation_max);
}

int32_t direct_avg_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                           const dmo_shape *output_shape, int32_t index) {
  const direct_position at = direct_position_of(output_shape, index);
  const direct_window rows = rows_of(&params->geometry, input_shape, at.h);
  const direct_window columns = columns_of(&params->geometry, input_shape, at.w);
  int64_t sum = 0;
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      sum += input[direct_index(input_shape, at.n, iy, ix, at.c)];
    }
  }
  const int64_t count = (rows.last - rows.first + 1) * (columns.last - columns.first + 1);
  return (int32_t)direct_clamp(direct_divide_rounding(sum, count), params->activation_min, params->activation_max);
}

float direct_avg_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                          const dmo_shape *output_shape, int32_t index) {
  const direct_position at = direct_position_of(output_shape, index);
  const direct_window rows = rows_of(&params->geometry, input_shape, at.h);
  const direct_window columns = columns_of(&params->geometry, input_shape, at.w);
  double sum = 0.0;
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      sum += (double)input[direct_index(input_shape, at.n, iy, ix, at.c)];
    }
  }
  const int64_t count = (rows.last - rows.first + 1) * (columns.last - columns.first + 1);
  return (float)direct_clamp_f64(sum / (double)count, (double)params->activation_min, (double)params->activation_max);
}
