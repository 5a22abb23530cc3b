// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle_operators.h"

#include <stddef.h>

int64_t oracle_divide_down(int64_t dividend, int64_t divisor) {
  const int64_t quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

int64_t oracle_requantize_wide(int64_t value, int32_t multiplier, int32_t shift) {
  int64_t leading = oracle_divide_down((int64_t)multiplier + 32768, 65536);
  if (leading > 32767) {
    leading = 32767;
  }
  const int64_t divisor = INT64_C(1) << (15 - shift);
  return oracle_divide_down(value * leading + divisor / 2, divisor);
}

// The tap, if any, through which an output coordinate sees an input coordinate, else -1.
static int64_t tap_of(int64_t input, int64_t output, int64_t stride, int64_t pad, int64_t taps, int64_t dilation) {
  const int64_t distance = input + pad - output * stride;
  return distance >= 0 && distance % dilation == 0 && distance / dilation < taps ? distance / dilation : -1;
}

int32_t oracle_conv2d_s16(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                          const dmo_shape *input_shape, const int16_t *input,
                          const dmo_shape *filter_shape, const int8_t *filter, const int64_t *bias,
                          const dmo_shape *output_shape, int32_t index) {
  const dmo_conv_geometry *g = &params->geometry;
  const oracle_position at = oracle_position_of(output_shape, index);
  const int64_t group = at.c * (input_shape->c / filter_shape->c) / filter_shape->n;
  int64_t sum = bias != NULL ? bias[at.c] : 0;
  for (int64_t ix = input_shape->w - 1; ix >= 0; --ix) {
    for (int64_t iy = input_shape->h - 1; iy >= 0; --iy) {
      const int64_t fx = tap_of(ix, at.w, g->stride_w, g->pad_w, filter_shape->w, g->dilation_w);
      const int64_t fy = tap_of(iy, at.h, g->stride_h, g->pad_h, filter_shape->h, g->dilation_h);
      for (int64_t ic = 0; fx >= 0 && fy >= 0 && ic < filter_shape->c; ++ic) {
        sum += (int64_t)input[oracle_index(input_shape, at.n, iy, ix, group * filter_shape->c + ic)] *
               filter[oracle_index(filter_shape, at.c, fy, fx, ic)];
      }
    }
  }
  const int64_t value = oracle_requantize_wide(sum, quant->multiplier[at.c], quant->shift[at.c]);
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

int32_t oracle_depthwise_conv2d_s16(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                    const dmo_shape *input_shape, const int16_t *input,
                                    const dmo_shape *filter_shape, const int8_t *filter, const int64_t *bias,
                                    const dmo_shape *output_shape, int32_t index) {
  const dmo_conv_geometry *g = &params->geometry;
  const oracle_position at = oracle_position_of(output_shape, index);
  const int64_t ic = at.c * input_shape->c / output_shape->c;
  int64_t sum = bias != NULL ? bias[at.c] : 0;
  for (int64_t ix = input_shape->w - 1; ix >= 0; --ix) {
    for (int64_t iy = input_shape->h - 1; iy >= 0; --iy) {
      const int64_t fx = tap_of(ix, at.w, g->stride_w, g->pad_w, filter_shape->w, g->dilation_w);
      const int64_t fy = tap_of(iy, at.h, g->stride_h, g->pad_h, filter_shape->h, g->dilation_h);
      if (fx >= 0 && fy >= 0) {
        sum += (int64_t)input[oracle_index(input_shape, at.n, iy, ix, ic)] *
               filter[oracle_index(filter_shape, 0, fy, fx, at.c)];
      }
    }
  }
  const int64_t value = oracle_requantize_wide(sum, quant->multiplier[at.c], quant->shift[at.c]);
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

int32_t oracle_fully_connected_s16(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                                   int32_t inputs, int32_t outputs, const int16_t *input, const int8_t *filter,
                                   const int64_t *bias, int32_t index) {
  const int16_t *row = &input[index / outputs * inputs];
  const int8_t *weights = &filter[index % outputs * inputs];
  int64_t sum = bias != NULL ? bias[index % outputs] : 0;
  for (int32_t i = inputs - 1; i >= 0; --i) {
    sum += (int64_t)row[i] * weights[i];
  }
  const int64_t value = oracle_requantize_wide(sum, quant->multiplier, quant->shift);
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

typedef struct {
  int64_t max, sum, count;
} window;

static window window_of(const dmo_pool_geometry *g, const dmo_shape *input_shape, const int16_t *input,
                        const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  window w = { INT16_MIN, 0, 0 };
  for (int64_t ix = input_shape->w - 1; ix >= 0; --ix) {
    for (int64_t iy = input_shape->h - 1; iy >= 0; --iy) {
      if (tap_of(ix, at.w, g->stride_w, g->pad_w, g->filter_w, 1) >= 0 &&
          tap_of(iy, at.h, g->stride_h, g->pad_h, g->filter_h, 1) >= 0) {
        const int64_t value = input[oracle_index(input_shape, at.n, iy, ix, at.c)];
        w.max = value > w.max ? value : w.max;
        w.sum += value;
        ++w.count;
      }
    }
  }
  return w;
}

int32_t oracle_max_pool_s16(const dmo_pool_params *params, const dmo_shape *input_shape, const int16_t *input,
                            const dmo_shape *output_shape, int32_t index) {
  const window w = window_of(&params->geometry, input_shape, input, output_shape, index);
  return (int32_t)oracle_clamp(w.max, params->activation_min, params->activation_max);
}

int32_t oracle_avg_pool_s16(const dmo_pool_params *params, const dmo_shape *input_shape, const int16_t *input,
                            const dmo_shape *output_shape, int32_t index) {
  const window w = window_of(&params->geometry, input_shape, input, output_shape, index);
  return (int32_t)oracle_clamp(oracle_divide_rounding(w.sum, w.count), params->activation_min, params->activation_max);
}

int32_t oracle_add_s16(const dmo_add_params *params, const int16_t *input1, const int16_t *input2, int32_t index) {
  const int64_t value1 = (int64_t)input1[index] * (INT64_C(1) << DMO_ADD_LEFT_SHIFT_S16);
  const int64_t value2 = (int64_t)input2[index] * (INT64_C(1) << DMO_ADD_LEFT_SHIFT_S16);
  const int64_t sum = oracle_requantize(value1, params->input1.multiplier, params->input1.shift) +
                      oracle_requantize(value2, params->input2.multiplier, params->input2.shift);
  const int64_t value = oracle_requantize(sum, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

int32_t oracle_mul_s16(const dmo_mul_params *params, const int16_t *input1, const int16_t *input2, int32_t index) {
  const int64_t product = (int64_t)input1[index] * input2[index];
  const int64_t value = oracle_requantize(product, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

int32_t oracle_relu_s16(const dmo_relu_params *params, const int16_t *input, int32_t index) {
  const int64_t value = oracle_requantize(input[index], params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

int32_t oracle_mean_s16(const dmo_mean_params *params, const dmo_shape *input_shape, const int16_t *input,
                        const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const int64_t count = (int64_t)input_shape->h * input_shape->w;
  int64_t sum = 0;
  for (int64_t i = count - 1; i >= 0; --i) {
    sum += input[(at.n * count + i) * input_shape->c + at.c];
  }
  const int64_t scaled = oracle_requantize(sum, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(scaled, INT16_MIN, INT16_MAX);
}

static int64_t between_samples(const int16_t *table, int64_t position) {
  const int64_t left = table[position / 128];
  const int64_t right = table[position / 128 + 1];
  return left + oracle_divide_down((right - left) * (position % 128) + 64, 128);
}

static int64_t exponential_of(const dmo_softmax_s16_params *params, int64_t difference, const int16_t *exp_table) {
  const int64_t scaled = oracle_requantize(difference, params->input_beta.multiplier, params->input_beta.shift);
  return between_samples(exp_table, oracle_clamp(scaled + 65535, 0, 65535));
}

int32_t oracle_softmax_s16(const dmo_softmax_s16_params *params, int32_t depth, const int16_t *input,
                           const int16_t *exp_table, const int16_t *reciprocal_table, int32_t index) {
  const int16_t *row = &input[index / depth * depth];
  int64_t max = row[0], sum = 0;
  for (int32_t i = 1; i < depth; ++i) {
    max = row[i] > max ? row[i] : max;
  }
  for (int32_t i = depth - 1; i >= 0; --i) {
    sum += exponential_of(params, row[i] - max, exp_table);
  }
  // The power of two at or below the sum; then the sum in multiples of it, with 16 fractional bits.
  int64_t power = 1;
  while (power * 2 <= sum) {
    power *= 2;
  }
  const int64_t mantissa = oracle_divide_down(sum * (INT64_C(1) << 30) / power + 8192, 16384);
  const int64_t reciprocal = between_samples(reciprocal_table, oracle_clamp(mantissa - 65536, 0, 65535));
  const int64_t product = exponential_of(params, input[index] - max, exp_table) * reciprocal;
  return (int32_t)oracle_clamp(oracle_divide_down(product + power / 2, power), 0, 32767);
}
