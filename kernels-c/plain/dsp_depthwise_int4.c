// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_depthwise_int4.h"
#include "dsp_int4_window.h"
#include "plain_int4.h"

static int32_t one_channel(const dsp_int4_window *window, int32_t in_channel, int32_t channel) {
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
static void two_channels(const dsp_int4_window *window, const int32_t *from, int32_t channel, int32_t *sums) {
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

PLAIN_INLINE void convolve_pixel(const void *of_layer, const dsp_int4_window *window, int8_t *output) {
  const int4_layer *const layer = of_layer;
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

void dsp_depthwise_int4(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                        const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                        const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output) {
  const int4_layer layer = {
    .output = { .offset = params->output_offset, .min = params->activation.min, .max = params->activation.max,
                .multiplier = quant->multiplier, .shift = quant->shift },
    .bias = bias,
    .channels = output_dims->c,
    .ch_mult = params->ch_mult,
  };
  dsp_walk_int4(params, input_dims, input, filter_dims, filter, output_dims, output, convolve_pixel, &layer);
}
