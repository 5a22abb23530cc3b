// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_depthwise.h"
#include "plain_window.h"

typedef struct {
  int32_t first, count; // taps along one axis that lie inside the input
} tap_range;

static tap_range inside(int32_t start, int32_t dilation, int32_t taps, int32_t extent) {
  int32_t first = start < 0 ? -start : 0;
  int32_t end = start >= extent ? 0 : extent - start;
  if (dilation != 1) {
    first = (first + dilation - 1) / dilation;
    end = (end + dilation - 1) / dilation;
  }
  const int32_t last = end < taps ? end : taps;
  return (tap_range){ first, last > first ? last - first : 0 };
}

// The outputs of a block of channels from its sums, without and with a window.
PLAIN_OUT_OF_LINE static void store_block(const plain_output *numbers, const int32_t *bias, const plain_window *window,
                                          int32_t channel, int8_t *output) {
  const int32_t *const multiplier = &numbers->multiplier[channel], *const shift = &numbers->shift[channel];
  for (int32_t i = 0; i < window->channels; ++i) {
    const int32_t sum = window->sum[i] + (bias == NULL ? 0 : bias[channel + i]);
    output[i] = plain_finish(numbers, multiplier[i], shift[i], sum);
  }
}

// One pixel. window: its first channels. Without taps all sums are 0.
static void convolve_pixel(const plain_output *numbers, const int32_t *bias, plain_window *window, int32_t in_channels,
                           int32_t multiplier, int8_t *output) {
  const bool any = window->rows != 0 && window->columns != 0;
  const int8_t *const input = window->input, *const filter = window->filter;
  // Blocks of input channels, or of outputs of one input channel.
  const int32_t group = multiplier == 1 ? in_channels : multiplier;
  for (int32_t i = 0; i < PLAIN_WINDOW_CHANNELS && !any; ++i) {
    window->sum[i] = 0;
  }
  for (int32_t first = 0; first < in_channels * multiplier; first += group) {
    for (int32_t c = first; c < first + group; c += PLAIN_WINDOW_CHANNELS) {
      const int32_t left = first + group - c;
      window->channels = left < PLAIN_WINDOW_CHANNELS ? left : PLAIN_WINDOW_CHANNELS;
      if (any) {
        window->input = input + (multiplier == 1 ? c : first / multiplier);
        window->filter = filter + c;
        plain_multiply_window(window);
      }
      store_block(numbers, bias, window, c, output + c);
    }
  }
}

void plain_depthwise(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                     const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                     const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output) {
  const int32_t in_channels = input_dims->c, channels = output_dims->c;
  const int32_t line = input_dims->w * in_channels;
  const int32_t filter_line = filter_dims->w * channels;
  const int32_t input_column = params->dilation.w * in_channels, input_row = params->dilation.h * line;
  const plain_output numbers =
      plain_make_output(params->output_offset, params->activation.min, params->activation.max, channels,
                        quant->multiplier, quant->shift, 1, bias, filter_dims->h * filter_dims->w);
  plain_window window = {
    .input_column = input_column,
    .filter_column = channels,
    .input_channel = params->ch_mult == 1 ? 1 : 0,
    .offset = params->input_offset,
  };
  for (int32_t b = 0; b < output_dims->n; ++b) {
    for (int32_t oy = 0; oy < output_dims->h; ++oy) {
      const int32_t top = oy * params->stride.h - params->padding.h;
      const tap_range rows = inside(top, params->dilation.h, filter_dims->h, input_dims->h);
      const int8_t *const row = rows.count == 0 ? input : &input[(top + rows.first * params->dilation.h) * line];
      const int8_t *const filter_row = rows.count == 0 ? filter : &filter[rows.first * filter_line];
      int32_t left = -params->padding.w;
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        const tap_range columns = inside(left, params->dilation.w, filter_dims->w, input_dims->w);
        const bool any = columns.count != 0;
        window.input = any ? &row[left * in_channels + columns.first * input_column] : row;
        window.filter = any ? &filter_row[columns.first * channels] : filter_row;
        window.rows = rows.count;
        window.columns = columns.count;
        window.input_skip = input_row - columns.count * input_column;
        window.filter_skip = filter_line - columns.count * channels;
        convolve_pixel(&numbers, bias, &window, in_channels, params->ch_mult, output);
        left += params->stride.w;
        output += channels;
      }
    }
    input += input_dims->h * line;
  }
}
