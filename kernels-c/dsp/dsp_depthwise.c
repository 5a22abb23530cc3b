// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_depthwise.h"
#include "dsp_depthwise_pixel.h"

// A layer and the place of its batches.
typedef struct {
  const cmsis_nn_dw_conv_params *params;
  const cmsis_nn_dims *input_dims, *filter_dims, *output_dims;
  const int8_t *input, *filter;
  int8_t *output;
} depthwise_call;

// fast: NULL unless windows are of 3x3, prepared.
DSP_INLINE void convolve(const depthwise_call *call, const depthwise_layer *layer, windows_3x3 *fast) {
  const cmsis_nn_dw_conv_params *const params = call->params;
  const cmsis_nn_dims *const input_dims = call->input_dims, *const filter_dims = call->filter_dims;
  const cmsis_nn_dims *const output_dims = call->output_dims;
  const int8_t *const filter = call->filter;
  const int32_t in_channels = input_dims->c, channels = output_dims->c;
  const int32_t line = input_dims->w * in_channels;
  int8_t *output = call->output;
  for (int32_t b = 0; b < output_dims->n; ++b) {
    const int8_t *batch = &call->input[b * input_dims->h * line];
    for (int32_t oy = 0; oy < output_dims->h; ++oy) {
      const int32_t top = oy * params->stride.h - params->padding.h;
      const dsp_taps rows = dsp_taps_inside(top, params->dilation.h, filter_dims->h, input_dims->h);
#if DSP_INSTRUCTIONS
      const int32_t first_row = rows.count == 0 ? 0 : rows.first;
      const int32_t first_line = rows.count == 0 ? 0 : top + first_row * params->dilation.h;
      const row_3x3 row = begin_row(fast, &batch[first_line * line], &filter[first_row * filter_dims->w * channels],
                                    rows.count, params->dilation.h * line, channels);
#endif
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        const int32_t left = ox * params->stride.w - params->padding.w;
#if DSP_INSTRUCTIONS
        if (row.windows != NULL && left >= 0 && left + 3 <= input_dims->w) {
          const int32_t count = pixels_inside(left, params->stride.w, input_dims->w, output_dims->w - ox);
          pixels_in_row(&row, left * channels, params->stride.w * channels, count, output, channels);
          output += count * channels;
          ox += count - 1;
          continue;
        }
#endif
        const dsp_taps columns = dsp_taps_inside(left, params->dilation.w, filter_dims->w, input_dims->w);
        const int32_t y = top + rows.first * params->dilation.h;
        const int32_t x = left + columns.first * params->dilation.w;
        const bool any = rows.count != 0 && columns.count != 0;
        const tap_window window = {
          .input = any ? &batch[y * line + x * in_channels] : batch,
          .filter = any ? &filter[(rows.first * filter_dims->w + columns.first) * channels] : filter,
          .first_column = columns.first,
          .rows = any ? rows.count : 0,
          .columns = columns.count,
          .input_row = params->dilation.h * line,
          .input_column = params->dilation.w * in_channels,
          .filter_row = filter_dims->w * channels,
          .filter_column = channels,
        };
        one_pixel(layer, &window, fast, in_channels, params->ch_mult, output);
        output += channels;
      }
    }
  }
}

static depthwise_layer layer_of(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                                const cmsis_nn_dims *filter_dims, const int32_t *bias, int32_t channels) {
  const dsp_range range = dsp_make_range(params->output_offset, params->activation.min, params->activation.max);
  const dsp_way way =
      dsp_choose_way(&range, channels, quant->multiplier, quant->shift, bias, filter_dims->h * filter_dims->w);
  return (depthwise_layer){ range, params->input_offset, bias, quant->multiplier, quant->shift, way };
}

#if DSP_INSTRUCTIONS
// Apart, so that other layers do not have its memory on the stack.
DSP_OUT_OF_LINE static void convolve_3x3(const cmsis_nn_dw_conv_params *params,
                                         const cmsis_nn_per_channel_quant_params *quant,
                                         const cmsis_nn_dims *input_dims, const int8_t *input,
                                         const cmsis_nn_dims *filter_dims, const int8_t *filter, const int32_t *bias,
                                         const cmsis_nn_dims *output_dims, int8_t *output) {
  const depthwise_layer layer = layer_of(params, quant, filter_dims, bias, output_dims->c);
  const depthwise_call call = { params, input_dims, filter_dims, output_dims, input, filter, output };
  windows_3x3 windows;
  prepare_3x3(&layer, output_dims->c, &windows);
  convolve(&call, &layer, &windows);
}
#endif

DSP_OUT_OF_LINE static void convolve_any(const cmsis_nn_dw_conv_params *params,
                                         const cmsis_nn_per_channel_quant_params *quant,
                                         const cmsis_nn_dims *input_dims, const int8_t *input,
                                         const cmsis_nn_dims *filter_dims, const int8_t *filter, const int32_t *bias,
                                         const cmsis_nn_dims *output_dims, int8_t *output) {
  const depthwise_layer layer = layer_of(params, quant, filter_dims, bias, output_dims->c);
  const depthwise_call call = { params, input_dims, filter_dims, output_dims, input, filter, output };
  convolve(&call, &layer, NULL);
}

void dsp_depthwise(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                   const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                   const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output) {
#if DSP_INSTRUCTIONS
  if (filter_dims->h == 3 && filter_dims->w == 3 && params->ch_mult == 1 && params->dilation.w == 1) {
    convolve_3x3(params, quant, input_dims, input, filter_dims, filter, bias, output_dims, output);
    return;
  }
#endif
  convolve_any(params, quant, input_dims, input, filter_dims, filter, bias, output_dims, output);
}
