// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_depthwise_int4.h"
#include "dsp_int4.h"
#include "dsp_vector.h"

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

typedef struct {
  uint32_t even, odd; // channels 0 and 2, 1 and 3
} four_weights;

DSP_INLINE four_weights load_four(const int8_t *packed, int32_t first) {
  const uint32_t weights = dsp_raise8(dsp_load_int4x4(packed, first)) & 0xffffu;
  const uint32_t twice = weights | weights << 8, minus8 = dsp_pair(-8, -8);
  return (four_weights){ dsp_add_pairs(twice & 0x000f000fu, minus8), dsp_add_pairs(twice >> 4 & 0x000f000fu, minus8) };
}

// Four channels, which read four of the input.
static dsp_sums one_to_one(const int4_window *window, int32_t channel, dsp_sums sums) {
  const uint32_t offsets = dsp_pair(window->offset, window->offset);
  const int8_t *row = window->input + channel;
  int32_t weight_row = window->weight + channel;
  for (int32_t y = window->rows; y != 0; --y) {
    const int8_t *tap = row;
    int32_t weight = weight_row;
    for (int32_t x = window->columns; x != 0; --x) {
      const uint32_t bytes = dsp_load4(tap);
      const uint32_t even = dsp_add_even(offsets, bytes), odd = dsp_add_odd(offsets, bytes);
      const four_weights weights = load_four(window->packed, weight);
      sums.row0 = dsp_multiply_low(even, weights.even, sums.row0);
      sums.row1 = dsp_multiply_low(odd, weights.odd, sums.row1);
      sums.row2 = dsp_multiply_high(even, weights.even, sums.row2);
      sums.row3 = dsp_multiply_high(odd, weights.odd, sums.row3);
      tap += window->input_column;
      weight += window->weight_column;
    }
    row += window->input_row;
    weight_row += window->weight_row;
  }
  return sums;
}

// Four channels, which read one of the input.
static dsp_sums one_to_four(const int4_window *window, int32_t in_channel, int32_t channel, dsp_sums sums) {
  const int8_t *row = window->input + in_channel;
  int32_t weight_row = window->weight + channel;
  for (int32_t y = window->rows; y != 0; --y) {
    const int8_t *tap = row;
    int32_t weight = weight_row;
    for (int32_t x = window->columns; x != 0; --x) {
      const uint32_t value = (uint32_t)(*tap + window->offset);
      const four_weights weights = load_four(window->packed, weight);
      sums.row0 = dsp_multiply_low(weights.even, value, sums.row0);
      sums.row1 = dsp_multiply_low(weights.odd, value, sums.row1);
      sums.row2 = dsp_multiply_high_low(weights.even, value, sums.row2);
      sums.row3 = dsp_multiply_high_low(weights.odd, value, sums.row3);
      tap += window->input_column;
      weight += window->weight_column;
    }
    row += window->input_row;
    weight_row += window->weight_row;
  }
  return sums;
}

// Four channels, each of which reads the channel of the input that `from` says.
static dsp_sums one_to_some(const int4_window *window, const int32_t *from, int32_t channel, dsp_sums sums) {
  const int32_t from0 = from[0], from1 = from[1], from2 = from[2], from3 = from[3];
  const int8_t *row = window->input;
  int32_t weight_row = window->weight + channel;
  for (int32_t y = window->rows; y != 0; --y) {
    const int8_t *tap = row;
    int32_t weight = weight_row;
    for (int32_t x = window->columns; x != 0; --x) {
      const four_weights weights = load_four(window->packed, weight);
      sums.row0 = dsp_multiply_low(weights.even, (uint32_t)(tap[from0] + window->offset), sums.row0);
      sums.row1 = dsp_multiply_low(weights.odd, (uint32_t)(tap[from1] + window->offset), sums.row1);
      sums.row2 = dsp_multiply_high_low(weights.even, (uint32_t)(tap[from2] + window->offset), sums.row2);
      sums.row3 = dsp_multiply_high_low(weights.odd, (uint32_t)(tap[from3] + window->offset), sums.row3);
      tap += window->input_column;
      weight += window->weight_column;
    }
    row += window->input_row;
    weight_row += window->weight_row;
  }
  return sums;
}

static int32_t one_channel(const int4_window *window, int32_t in_channel, int32_t channel) {
  const int8_t *row = window->input + in_channel;
  int32_t weight_row = window->weight + channel, sum = 0;
  for (int32_t y = window->rows; y != 0; --y) {
    const int8_t *tap = row;
    int32_t weight = weight_row;
    for (int32_t x = window->columns; x != 0; --x) {
      sum += (*tap + window->offset) * dsp_int4_at(window->packed, weight);
      tap += window->input_column;
      weight += window->weight_column;
    }
    row += window->input_row;
    weight_row += window->weight_row;
  }
  return sum;
}

// What all pixels share.
typedef struct {
  dsp_range range;
  const int32_t *bias, *multiplier, *shift;
  int32_t channels, ch_mult;
} int4_layer;

static dsp_sums multiply_block(const int4_layer *layer, const int4_window *window, int32_t channel, dsp_sums sums) {
  const int32_t ch_mult = layer->ch_mult;
  if (ch_mult == 1) {
    return one_to_one(window, channel, sums);
  }
  if (ch_mult % 4 == 0) {
    return one_to_four(window, channel / ch_mult, channel, sums);
  }
  const int32_t from[] = { channel / ch_mult, (channel + 1) / ch_mult, (channel + 2) / ch_mult,
                           (channel + 3) / ch_mult };
  return one_to_some(window, from, channel, sums);
}

// Four channels from `channel` on, of which the first `skipped` are not stored: their input may be gone.
static void convolve_block(const int4_layer *layer, const int4_window *window, int32_t channel, int32_t skipped,
                           int8_t *output) {
  const dsp_sums sums = multiply_block(layer, window, channel,
                                       dsp_bias_vector(layer->bias == NULL ? NULL : &layer->bias[channel], 4));
  const uint32_t word = dsp_requantize_vector(&layer->range, sums, 4, &layer->multiplier[channel],
                                              &layer->shift[channel], 1);
  dsp_store_vector(&output[channel + skipped], word >> (8 * skipped), 4 - skipped);
}

// Where there are not four.
static void convolve_few(const int4_layer *layer, const int4_window *window, int8_t *output) {
  for (int32_t c = 0; c < layer->channels; ++c) {
    dsp_sums sums = dsp_bias_vector(layer->bias == NULL ? NULL : &layer->bias[c], 1);
    sums.row0 += one_channel(window, c / layer->ch_mult, c);
    output[c] = (int8_t)dsp_requantize_vector(&layer->range, sums, 1, &layer->multiplier[c], &layer->shift[c], 1);
  }
}

static void convolve_pixel(const int4_layer *layer, const int4_window *window, int8_t *output) {
  const int32_t channels = layer->channels;
  if (channels < 4) {
    convolve_few(layer, window, output);
    return;
  }
  int32_t c = 0;
  for (; c + 4 <= channels; c += 4) {
    convolve_block(layer, window, c, 0, output);
  }
  if (c != channels) {
    convolve_block(layer, window, channels - 4, c - (channels - 4), output);
  }
}

void dsp_depthwise_int4(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                        const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                        const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output) {
  const int32_t in_channels = input_dims->c, channels = output_dims->c, line = input_dims->w * in_channels;
  const int4_layer layer = {
    .range = dsp_make_range(params->output_offset, params->activation.min, params->activation.max),
    .bias = bias,
    .multiplier = quant->multiplier,
    .shift = quant->shift,
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
