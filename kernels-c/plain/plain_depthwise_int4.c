// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_depthwise_int4.h"
#include "plain_int4.h"

typedef struct {
  int32_t first, count; // taps along one axis that lie inside the input
} tap_range;

static tap_range inside(int32_t start, int32_t dilation, int32_t taps, int32_t extent) {
  const int32_t first = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const int32_t end = start >= extent ? 0 : (extent - start + dilation - 1) / dilation;
  const int32_t last = end < taps ? end : taps;
  return (tap_range){ first, last > first ? last - first : 0 };
}

// One output pixel: the taps that lie inside the input, and their weights, counted in the filter.
typedef struct {
  const int8_t *input, *packed;
  int32_t weight;
  int32_t rows, columns;
  int32_t input_row, input_column;   // from one tap to the next
  int32_t weight_row, weight_column;
  int32_t offset;
} int4_window;

static int32_t one_channel(const int4_window *window, int32_t in_channel, int32_t channel) {
  const int8_t *row = window->input + in_channel;
  int32_t weight_row = window->weight + channel, sum = 0;
  for (int32_t y = window->rows; y != 0; --y) {
    const int8_t *tap = row;
    int32_t weight = weight_row;
    for (int32_t x = window->columns; x != 0; --x) {
      sum += (*tap + window->offset) * plain_int4_at(window->packed, weight);
      tap += window->input_column;
      weight += window->weight_column;
    }
    row += window->input_row;
    weight_row += window->weight_row;
  }
  return sum;
}

// Two channels, whose weights share bytes. They read the channels of the input that `from` says.
static void two_channels(const int4_window *window, const int32_t *from, int32_t channel, int32_t *sums) {
  const int32_t from0 = from[0], from1 = from[1], offset = window->offset;
  const int32_t weight_column = window->weight_column / 2;
  const int8_t *row = window->input, *weight_row = &window->packed[(window->weight + channel) / 2];
  int32_t sum0 = sums[0], sum1 = sums[1];
  for (int32_t y = window->rows; y != 0; --y) {
    const int8_t *tap = row, *weight = weight_row;
    for (int32_t x = window->columns; x != 0; --x) {
      const int32_t byte = *weight;
      sum0 += (tap[from0] + offset) * plain_lower(byte);
      sum1 += (tap[from1] + offset) * plain_upper(byte);
      tap += window->input_column;
      weight += weight_column;
    }
    row += window->input_row;
    weight_row += window->weight_row / 2;
  }
  sums[0] = sum0;
  sums[1] = sum1;
}

// What all pixels share.
typedef struct {
  plain_output output;
  const int32_t *bias; // or NULL
  int32_t channels, ch_mult;
} int4_layer;

static int32_t bias_of(const int4_layer *layer, int32_t channel) {
  return layer->bias == NULL ? 0 : layer->bias[channel];
}

static int8_t finish(const int4_layer *layer, int32_t channel, int32_t sum) {
  return plain_finish(&layer->output, layer->output.multiplier[channel], layer->output.shift[channel], sum);
}

static void convolve_pixel(const int4_layer *layer, const int4_window *window, int8_t *output) {
  const int32_t channels = layer->channels, ch_mult = layer->ch_mult;
  int32_t in_channel = 0, m = 0;
  if (channels % 2 == 0) {
    for (int32_t c = 0; c < channels; c += 2) {
      int32_t from[2];
      for (int32_t i = 0; i < 2; ++i) {
        from[i] = in_channel;
        if (++m == ch_mult) {
          m = 0;
          ++in_channel;
        }
      }
      int32_t sums[2] = { bias_of(layer, c), bias_of(layer, c + 1) };
      two_channels(window, from, c, sums);
      output[c] = finish(layer, c, sums[0]);
      output[c + 1] = finish(layer, c + 1, sums[1]);
    }
    return;
  }
  for (int32_t c = 0; c < channels; ++c) {
    output[c] = finish(layer, c, bias_of(layer, c) + one_channel(window, in_channel, c));
    if (++m == ch_mult) {
      m = 0;
      ++in_channel;
    }
  }
}

void plain_depthwise_int4(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                          const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                          const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output) {
  const int32_t in_channels = input_dims->c, channels = output_dims->c, line = input_dims->w * in_channels;
  const int4_layer layer = {
    .output = { .offset = params->output_offset, .min = params->activation.min, .max = params->activation.max,
                .multiplier = quant->multiplier, .shift = quant->shift },
    .bias = bias,
    .channels = channels,
    .ch_mult = params->ch_mult,
  };
  int4_window window = {
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
      const tap_range rows = inside(top, params->dilation.h, filter_dims->h, input_dims->h);
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        const int32_t left = ox * params->stride.w - params->padding.w;
        const tap_range columns = inside(left, params->dilation.w, filter_dims->w, input_dims->w);
        const bool any = rows.count != 0 && columns.count != 0;
        const int32_t y = top + rows.first * params->dilation.h, x = left + columns.first * params->dilation.w;
        window.input = any ? &input[y * line + x * in_channels] : input;
        window.weight = any ? (rows.first * filter_dims->w + columns.first) * channels : 0;
        window.rows = any ? rows.count : 0;
        window.columns = columns.count;
        convolve_pixel(&layer, &window, output);
        output += channels;
      }
    }
    input += input_dims->h * line;
  }
}
