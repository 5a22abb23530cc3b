// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle_uint8.h"

#include <math.h>
#include <stddef.h>

static oracle_window rows_of(const dmo_conv_geometry *g, const dmo_shape *input_shape, int32_t taps, int64_t output) {
  return oracle_window_of(output, g->stride_h, g->pad_h, taps, g->dilation_h, input_shape->h);
}

static oracle_window columns_of(const dmo_conv_geometry *g, const dmo_shape *input_shape, int32_t taps,
                                int64_t output) {
  return oracle_window_of(output, g->stride_w, g->pad_w, taps, g->dilation_w, input_shape->w);
}

static int32_t scaled(const dmo_conv2d_u8_params *params, const dmo_quant_per_tensor *quant, int64_t sum) {
  const int64_t value = oracle_requantize(sum, quant->multiplier, quant->shift) + params->output_offset;
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

int32_t oracle_conv2d_u8(const dmo_conv2d_u8_params *params, const dmo_quant_per_tensor *quant,
                         const dmo_shape *input_shape, const uint8_t *input,
                         const dmo_shape *filter_shape, const uint8_t *filter, const int32_t *bias,
                         const dmo_shape *output_shape, int32_t index) {
  const dmo_conv_geometry *g = &params->geometry;
  const oracle_position at = oracle_position_of(output_shape, index);
  const oracle_window rows = rows_of(g, input_shape, filter_shape->h, at.h);
  const oracle_window columns = columns_of(g, input_shape, filter_shape->w, at.w);
  const int64_t group = at.c * (input_shape->c / filter_shape->c) / filter_shape->n;
  int64_t sum = bias != NULL ? bias[at.c] : 0;
  for (int64_t fx = 0; fx < filter_shape->w; ++fx) {
    for (int64_t fy = 0; fy < filter_shape->h; ++fy) {
      const int64_t ix = columns.origin + fx * g->dilation_w;
      const int64_t iy = rows.origin + fy * g->dilation_h;
      if (ix < columns.first || ix > columns.last || iy < rows.first || iy > rows.last) {
        continue;
      }
      for (int64_t ic = 0; ic < filter_shape->c; ++ic) {
        const int64_t value = input[oracle_index(input_shape, at.n, iy, ix, group * filter_shape->c + ic)];
        const int64_t weight = filter[oracle_index(filter_shape, at.c, fy, fx, ic)];
        sum += (value + params->input_offset) * (weight + params->filter_offset);
      }
    }
  }
  return scaled(params, quant, sum);
}

int32_t oracle_depthwise_conv2d_u8(const dmo_conv2d_u8_params *params, const dmo_quant_per_tensor *quant,
                                   const dmo_shape *input_shape, const uint8_t *input,
                                   const dmo_shape *filter_shape, const uint8_t *filter, const int32_t *bias,
                                   const dmo_shape *output_shape, int32_t index) {
  const dmo_conv_geometry *g = &params->geometry;
  const oracle_position at = oracle_position_of(output_shape, index);
  const oracle_window rows = rows_of(g, input_shape, filter_shape->h, at.h);
  const oracle_window columns = columns_of(g, input_shape, filter_shape->w, at.w);
  const int64_t ic = at.c * input_shape->c / output_shape->c;
  int64_t sum = bias != NULL ? bias[at.c] : 0;
  for (int64_t fx = 0; fx < filter_shape->w; ++fx) {
    for (int64_t fy = 0; fy < filter_shape->h; ++fy) {
      const int64_t ix = columns.origin + fx * g->dilation_w;
      const int64_t iy = rows.origin + fy * g->dilation_h;
      if (ix >= columns.first && ix <= columns.last && iy >= rows.first && iy <= rows.last) {
        const int64_t value = input[oracle_index(input_shape, at.n, iy, ix, ic)];
        const int64_t weight = filter[oracle_index(filter_shape, 0, fy, fx, at.c)];
        sum += (value + params->input_offset) * (weight + params->filter_offset);
      }
    }
  }
  return scaled(params, quant, sum);
}

int32_t oracle_fully_connected_u8(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                                  int32_t inputs, int32_t outputs, const uint8_t *input, const uint8_t *filter,
                                  const int32_t *bias, int32_t index) {
  const uint8_t *values = &input[(int64_t)(index / outputs) * inputs];
  const uint8_t *weights = &filter[(int64_t)(index % outputs) * inputs];
  int64_t sum = bias != NULL ? bias[index % outputs] : 0;
  for (int64_t i = inputs - 1; i >= 0; --i) {
    sum += ((int64_t)values[i] + params->input_offset) * ((int64_t)weights[i] + params->filter_offset);
  }
  const int64_t value = oracle_requantize(sum, quant->multiplier, quant->shift) + params->output_offset;
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

typedef struct {
  int64_t max, sum, count;
} window;

static window window_of(const dmo_pool_geometry *g, const dmo_shape *input_shape, const uint8_t *input,
                        const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const oracle_window rows = oracle_window_of(at.h, g->stride_h, g->pad_h, g->filter_h, 1, input_shape->h);
  const oracle_window columns = oracle_window_of(at.w, g->stride_w, g->pad_w, g->filter_w, 1, input_shape->w);
  window w = { 0, 0, 0 };
  for (int64_t ix = columns.last; ix >= columns.first; --ix) {
    for (int64_t iy = rows.last; iy >= rows.first; --iy) {
      const int64_t value = input[oracle_index(input_shape, at.n, iy, ix, at.c)];
      w.max = value > w.max ? value : w.max;
      w.sum += value;
      ++w.count;
    }
  }
  return w;
}

int32_t oracle_max_pool_u8(const dmo_pool_params *params, const dmo_shape *input_shape, const uint8_t *input,
                           const dmo_shape *output_shape, int32_t index) {
  const window w = window_of(&params->geometry, input_shape, input, output_shape, index);
  return (int32_t)oracle_clamp(w.max, params->activation_min, params->activation_max);
}

int32_t oracle_avg_pool_u8(const dmo_pool_params *params, const dmo_shape *input_shape, const uint8_t *input,
                           const dmo_shape *output_shape, int32_t index) {
  const window w = window_of(&params->geometry, input_shape, input, output_shape, index);
  return (int32_t)oracle_clamp(oracle_divide_rounding(w.sum, w.count), params->activation_min, params->activation_max);
}

int32_t oracle_add_u8(const dmo_add_params *params, const uint8_t *input1, const uint8_t *input2, int32_t index) {
  const int64_t value1 = ((int64_t)input1[index] + params->input1_offset) * (INT64_C(1) << DMO_ADD_LEFT_SHIFT);
  const int64_t value2 = ((int64_t)input2[index] + params->input2_offset) * (INT64_C(1) << DMO_ADD_LEFT_SHIFT);
  const int64_t sum = oracle_requantize(value1, params->input1.multiplier, params->input1.shift) +
                      oracle_requantize(value2, params->input2.multiplier, params->input2.shift);
  const int64_t value = oracle_requantize(sum, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(value + params->output_offset, params->activation_min, params->activation_max);
}

double oracle_softmax_u8(double input_scale, int32_t depth, const uint8_t *input, int32_t index) {
  const uint8_t *row = &input[index / depth * depth];
  double sum = 0.0;
  for (int32_t i = depth - 1; i >= 0; --i) {
    sum += exp(input_scale * (double)(row[i] - input[index]));
  }
  return 1.0 / sum;
}
