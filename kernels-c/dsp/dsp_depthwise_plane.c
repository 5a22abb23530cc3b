// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_depthwise.h"
#include "dsp_plane.h"

bool dsp_is_depthwise_plane(const cmsis_nn_dw_conv_params *params, const cmsis_nn_dims *input_dims,
                            const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims) {
  return dsp_is_plane(input_dims->c, output_dims->c, filter_dims->h * filter_dims->w, params->stride.w,
                      params->dilation.w, params->input_offset);
}

void dsp_depthwise_plane(const cmsis_nn_dw_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                         const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,
                         const int8_t *filter, const int32_t *bias, const cmsis_nn_dims *output_dims, int8_t *output) {
  const int32_t channels = output_dims->c;
  const int32_t plane_bytes = input_dims->h * input_dims->w;
  const int32_t output_bytes = output_dims->h * output_dims->w * channels;
  const dsp_range range = dsp_make_range(params->output_offset, params->activation.min, params->activation.max);
  const dsp_plane plane = {
    .range = range,
    .way = dsp_choose_way(&range, channels, quant->multiplier, quant->shift, bias, filter_dims->h * filter_dims->w),
    .filter = filter,
    .bias = bias,
    .multiplier = quant->multiplier,
    .shift = quant->shift,
    .channels = channels,
    .input_offset = params->input_offset,
    .height = input_dims->h,
    .width = input_dims->w,
    .row = input_dims->w,
    .column = 1,
    .taps_h = filter_dims->h,
    .taps_w = filter_dims->w,
    .stride_h = params->stride.h,
    .stride_w = params->stride.w,
    .dilation_h = params->dilation.h,
    .pad_h = params->padding.h,
    .pad_w = params->padding.w,
    .out_height = output_dims->h,
    .out_width = output_dims->w,
    .out_row = output_dims->w * channels,
    .out_column = channels,
  };
  for (int32_t b = 0; b < output_dims->n; ++b) {
    dsp_convolve_plane(&plane, &input[b * plane_bytes], &output[b * output_bytes]);
  }
}
