// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_taps.h"
#include "plain_depthwise.h"
#include "plain_window.h"

// What all pixels share.
typedef struct {
  plain_output numbers;
  const int32_t *bias;        // or NULL
  const cmsis_nn_dims *taps;  // of the filter
  int32_t channels, multiplier, input_offset;
  bool is_fast;               // plain_convolve_window takes the channels
  // For windows that lie inside the input, bias + offset of the input * sum of the weights; NULL for none.
  const int32_t *inside_start;
} depthwise_layer;

enum { TABLE_CHANNELS = 128, LEAST_PIXELS = 16, HELD = 8 };

// One channel, the first tap of whose window is at `input` and, in the filter, at `filter`; a window without taps has
// no rows.
static int8_t convolve_any(const depthwise_layer *layer, const plain_window *window, const int8_t *input,
                           const int8_t *filter, int32_t channel) {
  const int32_t offset = layer->input_offset;
  int32_t sum = layer->bias == NULL ? 0 : layer->bias[channel];
  for (int32_t y = window->rows; y != 0; --y) {
    const int8_t *in = input, *weight = filter;
    for (int32_t x = window->columns; x != 0; --x) {
      sum += (*in + offset) * *weight;
      in += window->input_column;
      weight += window->filter_column;
    }
    input += window->input_row;
    filter += window->filter_row;
  }
  return plain_finish(&layer->numbers, layer->numbers.multiplier[channel], layer->numbers.shift[channel], sum);
}

PLAIN_OUT_OF_LINE static void convolve_all(const depthwise_layer *layer, const plain_window *window,
                                           const int8_t *input, const int8_t *filter, int8_t *output) {
  for (int32_t first = 0; first < layer->channels; first += layer->multiplier) {
    for (int32_t c = first; c < first + layer->multiplier; ++c) {
      output[c] = convolve_any(layer, window, input, filter + c, c);
    }
    ++input;
  }
}

// The channels from `first` up to `end`, which begin with `start`.
static void convolve_fast(const depthwise_layer *layer, plain_window *window, const int32_t *start,
                          const int8_t *input_end, const int8_t *filter, int32_t first, int32_t end,
                          int8_t *output_end) {
  window->input_end = input_end;
  window->filter_end = filter + end;
  window->minus_channels = first - end;
  window->start_end = start + end;
  window->multiplier_end = layer->numbers.multiplier + end;
  window->shift_end = layer->numbers.shift + end;
  window->output_end = output_end;
  plain_convolve_window(window);
}

// Outputs of one input channel are held back until a block of them has been computed, because they all load the same.
static void convolve_channel(const depthwise_layer *layer, plain_window *window, const int32_t *start,
                             const int8_t *input, const int8_t *filter, int32_t first, int8_t *output) {
  const int32_t last = first + layer->multiplier;
  for (int32_t c = first; c < last; c += HELD) {
    const int32_t count = last - c < HELD ? last - c : HELD;
    int8_t held[HELD];
    convolve_fast(layer, window, start, input, filter, c, c + count, held + count);
    for (int32_t i = 0; i < count; ++i) {
      output[c + i] = held[i];
    }
  }
}

static void convolve_pixel(const depthwise_layer *layer, plain_window *window, const int8_t *input,
                           const int8_t *filter, int8_t *output) {
  if (!layer->is_fast || window->rows == 0 || window->columns > PLAIN_WINDOW_COLUMNS) {
    convolve_all(layer, window, input, filter, output);
    return;
  }
  const int32_t channels = layer->channels;
  const bool is_inside =
      layer->inside_start != NULL && window->rows == layer->taps->h && window->columns == layer->taps->w;
  const int32_t *const start = is_inside ? layer->inside_start : layer->bias;
  window->input_offset = is_inside ? 0 : layer->input_offset;
  if (layer->multiplier != 1) {
    for (int32_t first = 0; first < channels; first += layer->multiplier) {
      convolve_channel(layer, window, start, input++, filter, first, output);
    }
    return;
  }
  // These are stored last, because the output may lie on the taps.
  const plain_output *const numbers = &layer->numbers;
  int8_t exact[PLAIN_MOST_EXACT];
  for (int32_t i = 0; i < numbers->exact_count; ++i) {
    const int32_t c = numbers->exact[i];
    exact[i] = convolve_any(layer, window, input + c, filter + c, c);
  }
  convolve_fast(layer, window, start, input + channels, filter, 0, channels, output + channels);
  for (int32_t i = 0; i < numbers->exact_count; ++i) {
    output[numbers->exact[i]] = exact[i];
  }
}

static int32_t sum_of_taps(const int8_t *weight, int32_t step, int32_t taps) {
  int32_t sum = 0;
  for (; taps != 0; --taps) {
    sum += *weight;
    weight += step;
  }
  return sum;
}

void plain_depthwise(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                     const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                     const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output) {
  const int32_t in_channels = input_dims->c, channels = output_dims->c;
  const int32_t line = input_dims->w * in_channels, filter_line = filter_dims->w * channels;
  const int32_t min = params->activation.min, max = params->activation.max;
  const plain_output numbers = plain_make_output(params->output_offset, min, max, channels, quant->multiplier,
                                                 quant->shift, 1, bias, filter_dims->h * filter_dims->w);
  const bool is_fast =
      numbers.is_fast && bias != NULL && (params->ch_mult == 1 || numbers.exact_count == 0);
  const bool has_table = is_fast && channels <= TABLE_CHANNELS &&
                         output_dims->n * output_dims->h * output_dims->w >= LEAST_PIXELS;
  int32_t table[TABLE_CHANNELS];
  for (int32_t c = 0; has_table && c < channels; ++c) {
    table[c] = bias[c] + params->input_offset * sum_of_taps(&filter[c], channels, filter_dims->h * filter_dims->w);
  }
  const depthwise_layer layer = { numbers, bias, filter_dims, channels, params->ch_mult, params->input_offset, is_fast,
                                  has_table ? table : NULL };
  plain_window window = {
    .input_column = params->dilation.w * in_channels,
    .filter_column = channels,
    .input_row = params->dilation.h * line,
    .filter_row = filter_line,
    .input_mask = params->ch_mult == 1 ? -1 : 0,
    .input_offset = params->input_offset,
    .offset = params->output_offset,
    .min = min,
    .max = max,
    .raised_offset = params->output_offset + 127 - max,
    .saturated_min = min + 127 - max,
  };
  for (int32_t b = 0; b < output_dims->n; ++b) {
    for (int32_t oy = 0; oy < output_dims->h; ++oy) {
      const int32_t top = oy * params->stride.h - params->padding.h;
      const dsp_taps rows = dsp_taps_inside(top, params->dilation.h, filter_dims->h, input_dims->h);
      const int8_t *const row = rows.count == 0 ? input : &input[(top + rows.first * params->dilation.h) * line];
      const int8_t *const filter_row = rows.count == 0 ? filter : &filter[rows.first * filter_line];
      int32_t left = -params->padding.w;
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        const dsp_taps columns = dsp_taps_inside(left, params->dilation.w, filter_dims->w, input_dims->w);
        const bool any = columns.count != 0;
        window.rows = any ? rows.count : 0;
        window.columns = columns.count;
        convolve_pixel(&layer, &window, any ? &row[left * in_channels + columns.first * window.input_column] : row,
                       any ? &filter_row[columns.first * channels] : filter_row, output);
        left += params->stride.w;
        output += channels;
      }
    }
    input += input_dims->h * line;
  }
}
