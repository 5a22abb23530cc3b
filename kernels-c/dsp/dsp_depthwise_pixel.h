// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One pixel of a depthwise convolution, wherever its taps lie: the inside of every depthwise convolution here.
#ifndef DSP_DEPTHWISE_PIXEL_H
#define DSP_DEPTHWISE_PIXEL_H

#include "dsp_depthwise_3x3.h"
#include "dsp_taps.h"
#include "dsp_window.h"

#include <stddef.h>

// One output pixel: the taps that lie inside the input.
typedef struct {
  const int8_t *input;  // first tap, first channel
  const int8_t *filter; // the same tap's
  int32_t first_column; // its place in the filter
  int32_t rows, columns;
  int32_t input_row, input_column;   // bytes from one tap to the next
  int32_t filter_row, filter_column;
} tap_window;

// What all pixels share.
typedef struct {
  dsp_range range;
  int32_t input_offset;
  const int32_t *bias, *multiplier, *shift;
  dsp_way way;
} depthwise_layer;

typedef struct {
  int32_t channel0, channel1, channel2, channel3;
} channel_sums;

// One tap of four channels.
DSP_INLINE channel_sums add_tap(uint32_t offsets, uint32_t values, uint32_t weights, channel_sums sums) {
  const uint32_t value_even = dsp_add_even(offsets, values), value_odd = dsp_add_odd(offsets, values);
  const uint32_t weight_even = dsp_even(weights), weight_odd = dsp_odd(weights);
  sums.channel0 = dsp_multiply_low(value_even, weight_even, sums.channel0);
  sums.channel1 = dsp_multiply_low(value_odd, weight_odd, sums.channel1);
  sums.channel2 = dsp_multiply_high(value_even, weight_even, sums.channel2);
  sums.channel3 = dsp_multiply_high(value_odd, weight_odd, sums.channel3);
  return sums;
}

// One tap of one channel with four multiplier channels.
DSP_INLINE channel_sums add_tap_of_one(uint32_t value, uint32_t weights, channel_sums sums) {
  const uint32_t weight_even = dsp_even(weights), weight_odd = dsp_odd(weights);
  sums.channel0 = dsp_multiply_low(weight_even, value, sums.channel0);
  sums.channel1 = dsp_multiply_low(weight_odd, value, sums.channel1);
  sums.channel2 = dsp_multiply_high_low(weight_even, value, sums.channel2);
  sums.channel3 = dsp_multiply_high_low(weight_odd, value, sums.channel3);
  return sums;
}

// Out of line, because it is long, and rare.
DSP_OUT_OF_LINE static int32_t finish_exactly(const depthwise_layer *layer, int32_t channel, int32_t sum) {
  const dsp_channel numbers =
      dsp_make_channel(DSP_EXACT, &layer->range, layer->multiplier[channel], layer->shift[channel]);
  return dsp_requantize(DSP_EXACT, &layer->range, numbers, sum);
}

DSP_INLINE int32_t finish(const depthwise_layer *layer, int32_t channel, int32_t sum) {
  if (layer->bias != NULL) {
    sum += layer->bias[channel];
  }
  if (layer->way == DSP_EXACT) {
    return finish_exactly(layer, channel, sum);
  }
  const dsp_channel numbers =
      dsp_make_channel(DSP_CLAMP, &layer->range, layer->multiplier[channel], layer->shift[channel]);
  return dsp_requantize(DSP_CLAMP, &layer->range, numbers, 2 * sum);
}

static void store_sums(const depthwise_layer *layer, int32_t channel, channel_sums sums, int8_t *output) {
  const int32_t value0 = finish(layer, channel, sums.channel0);
  const int32_t value1 = finish(layer, channel + 1, sums.channel1);
  const int32_t value2 = finish(layer, channel + 2, sums.channel2);
  const int32_t value3 = finish(layer, channel + 3, sums.channel3);
  dsp_store4(output, dsp_pack4(value0, value1, value2, value3));
}

// A single output channel, which reads a single input channel.
DSP_OUT_OF_LINE static int8_t one_channel(const depthwise_layer *layer, const tap_window *window, int32_t in_channel,
                                          int32_t channel) {
  const int8_t *in_row = window->input + in_channel;
  const int8_t *weight_row = window->filter + channel;
  int32_t sum = 0;
  for (int32_t y = 0; y < window->rows; ++y) {
    const int8_t *in = in_row;
    const int8_t *weight = weight_row;
    for (int32_t x = 0; x < window->columns; ++x) {
      sum += (*in + layer->input_offset) * *weight;
      in += window->input_column;
      weight += window->filter_column;
    }
    in_row += window->input_row;
    weight_row += window->filter_row;
  }
  return (int8_t)finish(layer, channel, sum);
}

#if DSP_INSTRUCTIONS
// Whole blocks of four channels from `first` on, by the assembly; returns how many channels are done.
DSP_OUT_OF_LINE static int32_t multiply_window(const depthwise_layer *layer, const tap_window *window, int32_t first,
                                               int32_t channels, int8_t *output) {
  const int32_t end = channels & ~3;
  if (layer->way == DSP_EXACT || layer->bias == NULL || window->rows == 0 || first >= end) {
    return first;
  }
  // A window of one column is a row of taps, too.
  const bool turned = window->columns == 1;
  const int32_t columns = turned ? window->rows : window->columns;
  const int32_t input_column = turned ? window->input_row : window->input_column;
  const int32_t filter_column = turned ? window->filter_row : window->filter_column;
  dsp_window block = {
    .input = window->input + first,
    .filter = window->filter + first,
    .input_column = input_column,
    .filter_column = filter_column,
    .offsets = dsp_pair(layer->input_offset, layer->input_offset),
    .columns = columns,
    .rows = turned ? 1 : window->rows,
    .input_skip = window->input_row - columns * input_column,
    .filter_skip = window->filter_row - columns * filter_column,
    .output = output + first,
    .output_end = output + end,
    .bias = layer->bias + first,
    .multiplier = layer->multiplier + first,
    .shift = layer->shift + first,
    .half_offset = layer->range.half_offset,
    .saturated_min = layer->range.saturated_min,
    .min = layer->range.min,
  };
  dsp_multiply_window(&block);
  return end;
}
#endif

// Multiplier 1, channels from `first`.
DSP_OUT_OF_LINE static void one_to_one(const depthwise_layer *layer, const tap_window *window, int32_t first,
                                       int32_t channels, int8_t *output) {
  const uint32_t offsets = dsp_pair(layer->input_offset, layer->input_offset);
  const int32_t in_step = window->input_column, weight_step = window->filter_column;
  int32_t c = first;
  for (; c + 4 <= channels; c += 4) {
    const int8_t *in = window->input + c;
    const int8_t *weight = window->filter + c;
    channel_sums sums = { 0, 0, 0, 0 };
    for (int32_t y = window->rows; y != 0; --y) {
      const int8_t *in_tap = in;
      const int8_t *weight_tap = weight;
      for (int32_t x = window->columns; x != 0; --x) {
        sums = add_tap(offsets, dsp_load4(in_tap), dsp_load4(weight_tap), sums);
        in_tap += in_step;
        weight_tap += weight_step;
      }
      in += window->input_row;
      weight += window->filter_row;
    }
    store_sums(layer, c, sums, &output[c]);
  }
  for (; c < channels; ++c) {
    output[c] = one_channel(layer, window, c, c);
  }
}

// Any multiplier.
DSP_OUT_OF_LINE static void one_to_many(const depthwise_layer *layer, const tap_window *window, int32_t in_channels,
                                        int32_t multiplier, int8_t *output) {
  for (int32_t ic = 0; ic < in_channels; ++ic) {
    int32_t m = 0;
    for (; m + 4 <= multiplier; m += 4) {
      const int32_t c = ic * multiplier + m;
      const int8_t *in = window->input + ic;
      const int8_t *weight = window->filter + c;
      channel_sums sums = { 0, 0, 0, 0 };
      for (int32_t y = 0; y < window->rows; ++y) {
        for (int32_t x = 0; x < window->columns; ++x) {
          const uint32_t value = (uint32_t)(in[x * window->input_column] + layer->input_offset);
          sums = add_tap_of_one(value, dsp_load4(&weight[x * window->filter_column]), sums);
        }
        in += window->input_row;
        weight += window->filter_row;
      }
      store_sums(layer, c, sums, &output[c]);
    }
    for (; m < multiplier; ++m) {
      output[ic * multiplier + m] = one_channel(layer, window, ic, ic * multiplier + m);
    }
  }
}

// Numbers of a layer of 3x3, multiplier 1, for the assembly; made once.
enum { TABLE_CHANNELS = 64, MOST_EXACT = 8 };
#if DSP_INSTRUCTIONS
typedef struct {
  void (*multiply)(dsp_3x3 *pixel); // NULL: the assembly does not take the layer
  dsp_3x3 pixel;
  int32_t exact_count, exact[MOST_EXACT]; // channels that it does not take
  dsp_numbers numbers[TABLE_CHANNELS];
} windows_3x3;

static bool fill_numbers(const depthwise_layer *layer, int32_t channels, windows_3x3 *windows) {
  bool fits = channels <= TABLE_CHANNELS;
  windows->exact_count = 0;
  for (int32_t c = 0; c < channels; ++c) {
    const int32_t bias = layer->bias == NULL ? 0 : layer->bias[c];
    if (!dsp_is_fast(&layer->range, layer->multiplier[c], layer->shift[c], bias, 9)) {
      if (windows->exact_count < MOST_EXACT) {
        windows->exact[windows->exact_count] = c;
      }
      ++windows->exact_count;
    } else {
      fits = fits && dsp_fits_numbers(layer->shift[c], bias);
    }
    if (fits) {
      windows->numbers[c] = dsp_make_numbers(layer->multiplier[c], layer->shift[c], bias);
    }
  }
  return fits;
}

// For windows of 3x3 whose taps are `channels` apart in a row, as those of the filter are.
static void prepare_3x3(const depthwise_layer *layer, int32_t channels, windows_3x3 *windows) {
  const int32_t done = channels & ~3;
  const bool fits = fill_numbers(layer, done, windows);
  windows->multiply = NULL;
  if (done == 0 || windows->exact_count > MOST_EXACT || (!fits && layer->bias == NULL)) {
    return;
  }
  windows->multiply = fits ? multiply_3x3_table : multiply_3x3_layer;
  windows->pixel = (dsp_3x3){
    .column = channels,
    .offsets = dsp_pair(layer->input_offset, layer->input_offset),
    .is_clamped = dsp_fast_way(&layer->range) == DSP_CLAMP,
    .saturated_min = layer->range.saturated_min,
    .min = layer->range.min,
    .half_offset = layer->range.half_offset,
    .numbers = &windows->numbers[fits ? done : 0],
    .bias = fits ? NULL : layer->bias + done,
    .multiplier = layer->multiplier + done,
    .shift = layer->shift + done,
  };
}

// Returns how many channels are done.
static int32_t try_3x3(const depthwise_layer *layer, const tap_window *window, windows_3x3 *windows, int32_t channels,
                       int8_t *output) {
  const int32_t done = channels & ~3;
  const int32_t first = window->first_column;
  if (windows->multiply == NULL || window->rows == 0 || first > 1 || first + window->columns < 2) {
    return 0;
  }
  // These are stored last, because the output may lie on the taps.
  int8_t exact[MOST_EXACT];
  for (int32_t i = 0; i < windows->exact_count; ++i) {
    exact[i] = one_channel(layer, window, windows->exact[i], windows->exact[i]);
  }
  dsp_3x3 *const pixel = &windows->pixel;
  pixel->input = dsp_address(window->input) + (uint32_t)(done - first * channels);
  pixel->filter = dsp_address(window->filter) + (uint32_t)(done - first * channels);
  pixel->row = window->input_row;
  pixel->channel = -done;
  pixel->outside = (uint32_t)first | (first + window->columns < 3 ? 2u : 0u);
  pixel->rows_code = (uint32_t)((3 - window->rows) * (window->columns == 3 ? ROW_INSIDE_BYTES : ROW_AT_EDGE_BYTES));
  pixel->output = output + done;
  windows->multiply(pixel);
  for (int32_t i = 0; i < windows->exact_count; ++i) {
    output[windows->exact[i]] = exact[i];
  }
  return done;
}

// What the pixels of a row share, whose windows lie inside the input from left to right.
typedef struct {
  windows_3x3 *windows; // NULL: there is no short cut
  uint32_t input, filter; // addresses of column 0 in the first row of taps inside the input
  uint32_t rows_code;
  int32_t done;
} row_3x3;

DSP_INLINE row_3x3 begin_row(windows_3x3 *windows, const int8_t *input, const int8_t *filter, int32_t rows,
                             int32_t input_row, int32_t channels) {
  row_3x3 row = { NULL, 0, 0, 0, channels };
  if (windows != NULL && windows->multiply != NULL && windows->exact_count == 0 && rows != 0 && channels % 4 == 0) {
    windows->pixel.row = input_row;
    row = (row_3x3){ windows, dsp_address(input) + (uint32_t)channels, dsp_address(filter) + (uint32_t)channels,
                     (uint32_t)((3 - rows) * ROW_INSIDE_BYTES), channels };
  }
  return row;
}

// How many of `pixels` pixels from that on whose window begins at column `left`, which lies inside the input.
DSP_INLINE int32_t pixels_inside(int32_t left, int32_t stride, int32_t width, int32_t pixels) {
  const int32_t windows = (width - 3 - left) / stride + 1;
  return windows < pixels ? windows : pixels;
}

// Pixels that are `apart` bytes apart, and their windows `step`; the first window begins `at` bytes behind column 0. A
// loop for itself, because with the assembly it is to fit into a kilobyte of instruction cache.
DSP_OUT_OF_LINE static void pixels_in_row(const row_3x3 *row, int32_t at, int32_t step, int32_t count, int8_t *output,
                                          int32_t apart) {
  dsp_3x3 *const pixel = &row->windows->pixel;
  uint32_t input = row->input + (uint32_t)at;
  output += row->done;
  pixel->outside = 0;
  for (; count != 0; --count) {
    pixel->input = input;
    pixel->filter = row->filter;
    pixel->channel = -row->done;
    pixel->rows_code = row->rows_code;
    pixel->output = output;
    row->windows->multiply(pixel);
    input += (uint32_t)step;
    output += apart;
  }
}
#else
typedef struct {
  int32_t unused;
} windows_3x3;
#endif

// windows: NULL unless the layer's windows are of 3x3, prepared.
static void one_pixel(const depthwise_layer *layer, const tap_window *window, windows_3x3 *windows,
                      int32_t in_channels, int32_t multiplier, int8_t *output) {
  if (multiplier != 1) {
    one_to_many(layer, window, in_channels, multiplier, output);
    return;
  }
  int32_t first = 0;
#if DSP_INSTRUCTIONS
  if (windows != NULL) {
    first = try_3x3(layer, window, windows, in_channels, output);
    if (first == in_channels) {
      return;
    }
  }
  first = multiply_window(layer, window, first, in_channels, output);
#else
  (void)windows;
#endif
  // What is left is what the fast ways do not take, or at most three channels.
  one_to_one(layer, window, first, in_channels, output);
}

#endif
