// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_dsp_pitched.h"
#include "dsp_depthwise_pixel.h"
#include "dsp_plane.h"

DSP_OUT_OF_LINE static void convolve_plane(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                           const dmo_shape *input_shape, const dmo_pitch *input_pitch,
                                           const int8_t *input, const dmo_shape *filter_shape, const int8_t *filter,
                                           const int32_t *bias, const dmo_shape *output_shape,
                                           const dmo_pitch *output_pitch, int8_t *output) {
  const dmo_conv_geometry *g = &params->geometry;
  const int32_t channels = output_shape->c;
  const dsp_range range = dsp_make_range(params->output_offset, params->activation_min, params->activation_max);
  const dsp_plane plane = {
    .range = range,
    .way = dsp_choose_way(&range, channels, quant->multiplier, quant->shift, bias, filter_shape->h * filter_shape->w),
    .filter = filter,
    .bias = bias,
    .multiplier = quant->multiplier,
    .shift = quant->shift,
    .channels = channels,
    .input_offset = params->input_offset,
    .height = input_shape->h,
    .width = input_shape->w,
    .row = input_pitch->row,
    .column = input_pitch->pixel,
    .taps_h = filter_shape->h,
    .taps_w = filter_shape->w,
    .stride_h = g->stride_h,
    .stride_w = g->stride_w,
    .dilation_h = g->dilation_h,
    .pad_h = g->pad_h,
    .pad_w = g->pad_w,
    .out_height = output_shape->h,
    .out_width = output_shape->w,
    .out_row = output_pitch->row,
    .out_column = output_pitch->pixel,
  };
  dsp_convolve_plane(&plane, input, output);
}

DSP_OUT_OF_LINE static void convolve_pixels(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                            const dmo_shape *input_shape, const dmo_pitch *input_pitch,
                                            const int8_t *input, const dmo_shape *filter_shape, const int8_t *filter,
                                            const int32_t *bias, const dmo_shape *output_shape,
                                            const dmo_pitch *output_pitch, int8_t *output) {
  const dmo_conv_geometry *g = &params->geometry;
  const int32_t channels = output_shape->c;
  const dsp_range range = dsp_make_range(params->output_offset, params->activation_min, params->activation_max);
  const dsp_way way =
      dsp_choose_way(&range, channels, quant->multiplier, quant->shift, bias, filter_shape->h * filter_shape->w);
  const depthwise_layer layer = { range, params->input_offset, bias, quant->multiplier, quant->shift, way };
  windows_3x3 *fast = NULL;
#if DSP_INSTRUCTIONS
  windows_3x3 windows;
  if (filter_shape->h == 3 && filter_shape->w == 3 && channels == input_shape->c && g->dilation_w == 1 &&
      input_pitch->pixel == channels) {
    prepare_3x3(&layer, channels, &windows);
    fast = &windows;
  }
#endif
  for (int32_t oy = 0; oy < output_shape->h; ++oy) {
    const int32_t top = oy * g->stride_h - g->pad_h;
    const dsp_taps rows = dsp_taps_inside(top, g->dilation_h, filter_shape->h, input_shape->h);
#if DSP_INSTRUCTIONS
    const int32_t first_row = rows.count == 0 ? 0 : rows.first;
    const int32_t first_line = rows.count == 0 ? 0 : top + first_row * g->dilation_h;
    const row_3x3 row = begin_row(fast, &input[dmo_pitched_offset(input_pitch, first_line, 0, 0)],
                                  &filter[first_row * filter_shape->w * channels], rows.count,
                                  g->dilation_h * input_pitch->row, channels);
#endif
    for (int32_t ox = 0; ox < output_shape->w; ++ox) {
      const int32_t left = ox * g->stride_w - g->pad_w;
#if DSP_INSTRUCTIONS
      if (row.windows != NULL && left >= 0 && left + 3 <= input_shape->w) {
        const int32_t count = pixels_inside(left, g->stride_w, input_shape->w, output_shape->w - ox);
        pixels_in_row(&row, left * channels, g->stride_w * channels, count,
                      &output[dmo_pitched_offset(output_pitch, oy, ox, 0)], output_pitch->pixel);
        ox += count - 1;
        continue;
      }
#endif
      const dsp_taps columns = dsp_taps_inside(left, g->dilation_w, filter_shape->w, input_shape->w);
      const int32_t y = top + rows.first * g->dilation_h;
      const int32_t x = left + columns.first * g->dilation_w;
      const bool any = rows.count != 0 && columns.count != 0;
      const tap_window window = {
        .input = any ? &input[dmo_pitched_offset(input_pitch, y, x, 0)] : input,
        .filter = any ? &filter[(rows.first * filter_shape->w + columns.first) * channels] : filter,
        .first_column = columns.first,
        .rows = any ? rows.count : 0,
        .columns = columns.count,
        .input_row = g->dilation_h * input_pitch->row,
        .input_column = g->dilation_w * input_pitch->pixel,
        .filter_row = filter_shape->w * channels,
        .filter_column = channels,
      };
      one_pixel(&layer, &window, fast, input_shape->c, channels / input_shape->c,
                &output[dmo_pitched_offset(output_pitch, oy, ox, 0)]);
    }
  }
}

void dmo_dsp_depthwise_conv2d_pitched_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                         const dmo_shape *input_shape, const dmo_pitch *input_pitch,
                                         const int8_t *input,
                                         const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                         const dmo_shape *output_shape, const dmo_pitch *output_pitch,
                                         int8_t *output) {
  const dmo_conv_geometry *g = &params->geometry;
  if (dsp_is_plane(input_shape->c, output_shape->c, filter_shape->h * filter_shape->w, g->stride_w, g->dilation_w,
                   params->input_offset)) {
    convolve_plane(params, quant, input_shape, input_pitch, input, filter_shape, filter, bias, output_shape,
                   output_pitch, output);
  } else {
    convolve_pixels(params, quant, input_shape, input_pitch, input, filter_shape, filter, bias, output_shape,
                    output_pitch, output);
  }
}
