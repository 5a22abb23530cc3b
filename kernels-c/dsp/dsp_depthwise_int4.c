// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_depthwise_int4.h"
#include "dsp_int4.h"
#include "dsp_int4_window.h"
#include "dsp_vector.h"

typedef struct {
  uint32_t even, odd; // channels 0 and 2, 1 and 3
} four_weights;

DSP_INLINE four_weights load_four(const int8_t *packed, int32_t first) {
  const uint32_t weights = dsp_raise8(dsp_load_int4x4(packed, first)) & 0xffffu;
  const uint32_t twice = weights | weights << 8, minus8 = dsp_pair(-8, -8);
  return (four_weights){ dsp_add_pairs(twice & 0x000f000fu, minus8), dsp_add_pairs(twice >> 4 & 0x000f000fu, minus8) };
}

// Four channels, which read four of the input.
static dsp_sums one_to_one(const dsp_int4_window *window, int32_t channel, dsp_sums sums) {
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
static dsp_sums one_to_four(const dsp_int4_window *window, int32_t in_channel, int32_t channel, dsp_sums sums) {
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
static dsp_sums one_to_some(const dsp_int4_window *window, const int32_t *from, int32_t channel, dsp_sums sums) {
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

static int32_t one_channel(const dsp_int4_window *window, int32_t in_channel, int32_t channel) {
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

static dsp_sums multiply_block(const int4_layer *layer, const dsp_int4_window *window, int32_t channel,
                               dsp_sums sums) {
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
static void convolve_block(const int4_layer *layer, const dsp_int4_window *window, int32_t channel, int32_t skipped,
                           int8_t *output) {
  const dsp_sums sums = multiply_block(layer, window, channel,
                                       dsp_bias_vector(layer->bias == NULL ? NULL : &layer->bias[channel], 4));
  const uint32_t word = dsp_requantize_vector(&layer->range, sums, 4, &layer->multiplier[channel],
                                              &layer->shift[channel], 1);
  dsp_store_vector(&output[channel + skipped], word >> (8 * skipped), 4 - skipped);
}

// Where there are not four.
static void convolve_few(const int4_layer *layer, const dsp_int4_window *window, int8_t *output) {
  for (int32_t c = 0; c < layer->channels; ++c) {
    dsp_sums sums = dsp_bias_vector(layer->bias == NULL ? NULL : &layer->bias[c], 1);
    sums.row0 += one_channel(window, c / layer->ch_mult, c);
    output[c] = (int8_t)dsp_requantize_vector(&layer->range, sums, 1, &layer->multiplier[c], &layer->shift[c], 1);
  }
}

DSP_INLINE void convolve_pixel(const void *of_layer, const dsp_int4_window *window, int8_t *output) {
  const int4_layer *const layer = of_layer;
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
  const int4_layer layer = {
    .range = dsp_make_range(params->output_offset, params->activation.min, params->activation.max),
    .bias = bias,
    .multiplier = quant->multiplier,
    .shift = quant->shift,
    .channels = output_dims->c,
    .ch_mult = params->ch_mult,
  };
  dsp_walk_int4(params, input_dims, input, filter_dims, filter, output_dims, output, convolve_pixel, &layer);
}
