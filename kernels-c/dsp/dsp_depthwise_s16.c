// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_depthwise_s16.h"
#include "dsp_wide.h"

// The taps of one pixel's window that lie inside the input. Distances are in elements.
typedef struct {
  const int16_t *input; // first tap, first channel
  const int8_t *filter;
  int32_t rows, columns;
  int32_t input_column, filter_column; // from one tap of a row to the next
  int32_t input_row, filter_row;       // from behind the last tap of a row to the next row
} window;

typedef struct {
  const cmsis_nn_dims *input_dims, *filter_dims, *output_dims;
  cmsis_nn_tile stride, padding, dilation;
  dsp_scales scales;
  void (*multiply)(const window *w, dsp_scales scales, int32_t outputs, int16_t *output);
} layer;

// The taps of one axis that lie inside the input: from `first` on, `count`.
typedef struct {
  int32_t first, count;
} tap_range;

static tap_range taps_inside(int32_t start, int32_t dilation, int32_t filter, int32_t extent) {
  int32_t first = 0, end = filter;
  if (start < 0) {
    first = dilation == 1 ? -start : (-start + dilation - 1) / dilation;
  }
  if (start + (filter - 1) * dilation >= extent) {
    end = start >= extent ? 0 : dilation == 1 ? extent - start : (extent - start + dilation - 1) / dilation;
  }
  return (tap_range){ first, end > first ? end - first : 0 };
}

static window window_of(const layer *l, const int16_t *batch, const int8_t *filter, int32_t oy, int32_t ox) {
  const int32_t top = oy * l->stride.h - l->padding.h, left = ox * l->stride.w - l->padding.w;
  const tap_range rows = taps_inside(top, l->dilation.h, l->filter_dims->h, l->input_dims->h);
  const tap_range columns = taps_inside(left, l->dilation.w, l->filter_dims->w, l->input_dims->w);
  const int32_t in = l->input_dims->c, out = l->output_dims->c;
  if (rows.count == 0 || columns.count == 0) {
    return (window){ .input = batch, .filter = filter };
  }
  const int32_t y = top + rows.first * l->dilation.h, x = left + columns.first * l->dilation.w;
  return (window){
    .input = &batch[(y * l->input_dims->w + x) * in],
    .filter = &filter[(rows.first * l->filter_dims->w + columns.first) * out],
    .rows = rows.count,
    .columns = columns.count,
    .input_column = l->dilation.w * in,
    .filter_column = out,
    .input_row = (l->dilation.h * l->input_dims->w - columns.count * l->dilation.w) * in,
    .filter_row = (l->filter_dims->w - columns.count) * out,
  };
}

// One tap of four channels, or of four outputs of one channel.
DSP_INLINE void multiply_tap(const int16_t *input, const int8_t *filter, bool is_shared, int32_t *sums) {
  const uint32_t four = dsp_load4(filter);
  const uint32_t even = dsp_even(four), odd = dsp_odd(four);
  if (is_shared) {
    const uint32_t value = (uint32_t)*input;
    sums[0] = dsp_multiply_low(value, even, sums[0]);
    sums[1] = dsp_multiply_low(value, odd, sums[1]);
    sums[2] = dsp_multiply_low_high(value, even, sums[2]);
    sums[3] = dsp_multiply_low_high(value, odd, sums[3]);
  } else {
    const uint32_t first = dsp_load_pair(input), second = dsp_load_pair(input + 2);
    sums[0] = dsp_multiply_low(first, even, sums[0]);
    sums[1] = dsp_multiply_high_low(first, odd, sums[1]);
    sums[2] = dsp_multiply_low_high(second, even, sums[2]);
    sums[3] = dsp_multiply_high(second, odd, sums[3]);
  }
}

// Blocks of four outputs, by at most DSP_WIDE_PRODUCTS taps and scales that are fast.
DSP_INLINE void multiply_blocks(const window *of_all, dsp_scales scales, int32_t blocks, bool is_shared,
                                int16_t *output) {
  const window w = *of_all;
  const int16_t *first = w.input;
  const int8_t *first_filter = w.filter;
  for (; blocks != 0; --blocks) {
    const int16_t *input = first;
    const int8_t *filter = first_filter;
    int32_t sums[4] = { 0, 0, 0, 0 };
    for (int32_t i = 0; i < 4; ++i) {
      sums[i] = (int32_t)scales.bias[i * scales.bias_step];
    }
    for (int32_t rows = w.rows; rows != 0; --rows) {
      int32_t columns = w.columns;
      do {
        multiply_tap(input, filter, is_shared, sums);
        input += w.input_column;
        filter += w.filter_column;
      } while (--columns != 0);
      input += w.input_row;
      filter += w.filter_row;
    }
    for (int32_t i = 0; i < 4; i += 2) {
      const int32_t low = dsp_next_output_fast(&scales, sums[i]);
      const int32_t high = dsp_next_output_fast(&scales, sums[i + 1]);
      dsp_store_pair(output, dsp_pair(low, high));
      output += 2;
    }
    first += is_shared ? 0 : 4;
    first_filter += 4;
  }
}

// Single outputs, by at most DSP_WIDE_PRODUCTS taps and scales that are fast.
DSP_INLINE void multiply_singles(const window *of_all, dsp_scales scales, int32_t count, bool is_shared,
                                 int16_t *output) {
  const window w = *of_all;
  const int16_t *first = w.input;
  const int8_t *first_filter = w.filter;
  for (; count != 0; --count) {
    const int16_t *input = first;
    const int8_t *filter = first_filter;
    int32_t sum = (int32_t)*scales.bias;
    for (int32_t rows = w.rows; rows != 0; --rows) {
      int32_t columns = w.columns;
      do {
        sum = dsp_multiply_low((uint32_t)*input, (uint32_t)*filter, sum);
        input += w.input_column;
        filter += w.filter_column;
      } while (--columns != 0);
      input += w.input_row;
      filter += w.filter_row;
    }
    *output++ = (int16_t)dsp_next_output_fast(&scales, sum);
    first += is_shared ? 0 : 1;
    ++first_filter;
  }
}

// By any number of taps and any scales.
DSP_INLINE void multiply_singles_exactly(const window *w, dsp_scales scales, int32_t count, bool is_shared,
                                         int16_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int16_t *input = &w->input[is_shared ? 0 : i];
    const int8_t *filter = &w->filter[i];
    int64_t sum = 0;
    for (int32_t rows = w->rows; rows != 0; --rows) {
      for (int32_t columns = w->columns; columns != 0; --columns) {
        sum += *input * *filter;
        input += w->input_column;
        filter += w->filter_column;
      }
      input += w->input_row;
      filter += w->filter_row;
    }
    *output++ = (int16_t)dsp_next_output(&scales, sum);
  }
}

// Outputs that lie one after the other: of channels next to each other, or of a single one.
DSP_OUT_OF_LINE static void multiply_channels(const window *w, dsp_scales scales, int32_t outputs, int16_t *output) {
  const int32_t done = outputs & ~3;
  window rest = *w;
  if (done != 0) {
    multiply_blocks(w, scales, outputs / 4, false, output);
  }
  if (done != outputs) {
    rest.input += done;
    rest.filter += done;
    multiply_singles(&rest, dsp_scales_from(scales, done), outputs - done, false, output + done);
  }
}

DSP_OUT_OF_LINE static void multiply_one_channel(const window *w, dsp_scales scales, int32_t outputs,
                                                 int16_t *output) {
  const int32_t done = outputs & ~3;
  window rest = *w;
  if (done != 0) {
    multiply_blocks(w, scales, outputs / 4, true, output);
  }
  if (done != outputs) {
    rest.filter += done;
    multiply_singles(&rest, dsp_scales_from(scales, done), outputs - done, true, output + done);
  }
}

DSP_OUT_OF_LINE static void multiply_channels_exactly(const window *w, dsp_scales scales, int32_t outputs,
                                                      int16_t *output) {
  multiply_singles_exactly(w, scales, outputs, false, output);
}

DSP_OUT_OF_LINE static void multiply_one_channel_exactly(const window *w, dsp_scales scales, int32_t outputs,
                                                         int16_t *output) {
  multiply_singles_exactly(w, scales, outputs, true, output);
}

static void multiply_pixel(const layer *l, window w, int32_t ch_mult, int16_t *output) {
  const int32_t channels = l->input_dims->c;
  if (ch_mult == 1) {
    l->multiply(&w, l->scales, channels, output);
    return;
  }
  dsp_scales scales = l->scales;
  for (int32_t c = channels; c != 0; --c) {
    l->multiply(&w, scales, ch_mult, output);
    output += ch_mult;
    scales = dsp_scales_from(scales, ch_mult);
    ++w.input;
    w.filter += ch_mult;
  }
}

void dsp_depthwise_s16(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                       const cmsis_nn_dims *input_dims, const int16_t *input, const cmsis_nn_dims *filter_dims,
                       const int8_t *filter, const int64_t *bias, const cmsis_nn_dims *output_dims, int16_t *output) {
  layer l = {
    .input_dims = input_dims,
    .filter_dims = filter_dims,
    .output_dims = output_dims,
    .stride = params->stride,
    .padding = params->padding,
    .dilation = params->dilation,
    .scales = dsp_make_scales(quant->multiplier, quant->shift, bias, params->activation.min,
                              params->activation.max),
  };
  const int32_t ch_mult = output_dims->c / input_dims->c;
  l.multiply = dsp_are_fast(&l.scales, output_dims->c, false, filter_dims->h * filter_dims->w)
                   ? (ch_mult == 1 ? multiply_channels : multiply_one_channel)
                   : (ch_mult == 1 ? multiply_channels_exactly : multiply_one_channel_exactly);
  for (int32_t b = 0; b < input_dims->n; ++b) {
    for (int32_t oy = 0; oy < output_dims->h; ++oy) {
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        multiply_pixel(&l, window_of(&l, input, filter, oy, ox), ch_mult, output);
        output += output_dims->c;
      }
    }
    input += input_dims->h * input_dims->w * input_dims->c;
  }
}
