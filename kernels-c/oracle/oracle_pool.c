// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle.h"

#include <math.h>

static oracle_window rows_of(const dmo_pool_geometry *g, const dmo_shape *input_shape, int64_t output) {
  return oracle_window_of(output, g->stride_h, g->pad_h, g->filter_h, 1, input_shape->h);
}

static oracle_window columns_of(const dmo_pool_geometry *g, const dmo_shape *input_shape, int64_t output) {
  return oracle_window_of(output, g->stride_w, g->pad_w, g->filter_w, 1, input_shape->w);
}

int32_t oracle_max_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                           const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const oracle_window rows = rows_of(&params->geometry, input_shape, at.h);
  const oracle_window columns = columns_of(&params->geometry, input_shape, at.w);
  int64_t max = INT64_MIN;
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      const int64_t value = input[oracle_index(input_shape, at.n, iy, ix, at.c)];
      max = max >= value ? max : value;
    }
  }
  return (int32_t)oracle_clamp(max, params->activation_min, params->activation_max);
}

float oracle_max_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                          const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const oracle_window rows = rows_of(&params->geometry, input_shape, at.h);
  const oracle_window columns = columns_of(&params->geometry, input_shape, at.w);
  double max = (double)input[oracle_index(input_shape, at.n, rows.last, columns.last, at.c)];
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      const double value = (double)input[oracle_index(input_shape, at.n, iy, ix, at.c)];
      max = max >= value ? max : value;
    }
  }
  return (float)oracle_clamp_f64(max, (double)params->activation_min, (double)params->activation_max);
}

int32_t oracle_avg_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                           const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const oracle_window rows = rows_of(&params->geometry, input_shape, at.h);
  const oracle_window columns = columns_of(&params->geometry, input_shape, at.w);
  int64_t sum = 0;
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      sum += input[oracle_index(input_shape, at.n, iy, ix, at.c)];
    }
  }
  const int64_t count = (rows.last - rows.first + 1) * (columns.last - columns.first + 1);
  return (int32_t)oracle_clamp(oracle_divide_rounding(sum, count), params->activation_min, params->activation_max);
}

static double same(double value) {
  return value;
}

static double squared(double value) {
  return value * value;
}

// Of what a function makes of each element of the window.
static double mean_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                       const dmo_shape *output_shape, int32_t index, double (*made_of)(double)) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const oracle_window rows = rows_of(&params->geometry, input_shape, at.h);
  const oracle_window columns = columns_of(&params->geometry, input_shape, at.w);
  double sum = 0.0;
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      sum += made_of((double)input[oracle_index(input_shape, at.n, iy, ix, at.c)]);
    }
  }
  const int64_t count = (rows.last - rows.first + 1) * (columns.last - columns.first + 1);
  return sum / (double)count;
}

float oracle_avg_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                          const dmo_shape *output_shape, int32_t index) {
  const double mean = mean_f32(params, input_shape, input, output_shape, index, same);
  return (float)oracle_clamp_f64(mean, (double)params->activation_min, (double)params->activation_max);
}

float oracle_l2_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                         const dmo_shape *output_shape, int32_t index) {
  const double mean = mean_f32(params, input_shape, input, output_shape, index, squared);
  // Rounded where the kernel rounds.
  const double root = (double)(float)sqrt((double)(float)mean);
  return (float)oracle_clamp_f64(root, (double)params->activation_min, (double)params->activation_max);
}
