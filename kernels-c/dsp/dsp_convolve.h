// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the convolutions share.
#ifndef DSP_CONVOLVE_H
#define DSP_CONVOLVE_H

#include "arm_nnfunctions.h"
#include "dsp_multiply.h"

#include <stddef.h>

static inline dsp_filters dsp_make_filters(const cmsis_nn_conv_params *params,
                                           const cmsis_nn_per_channel_quant_params *quant, int32_t columns,
                                           const int8_t *filter, const int32_t *bias, int32_t channels) {
  const dsp_range range = dsp_make_range(params->output_offset, params->activation.min, params->activation.max);
  const int32_t exact = dsp_count_exact(&range, channels, quant->multiplier, quant->shift, bias, columns);
  return (dsp_filters){
    .filter = filter,
    .bias = bias,
    .multiplier = quant->multiplier,
    .shift = quant->shift,
    .channels = channels,
    .columns = columns,
    .range = range,
    .way = exact == channels ? DSP_EXACT : dsp_fast_way(&range),
    .some_exact = exact != 0,
  };
}

// TensorFlow Lite Micro also calls functions of 1x1 for fully connected layers, and then gives the filter's channels
// as those of the output.
static inline bool dsp_is_1x1(const cmsis_nn_conv_params *params, const cmsis_nn_dims *filter) {
  return filter->h == 1 && filter->w == 1 && params->padding.h == 0 && params->padding.w == 0;
}

static inline bool dsp_is_1x1_fast(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input,
                                   const cmsis_nn_dims *filter, const cmsis_nn_dims *output) {
  return dsp_is_1x1(params, filter) && params->stride.h == 1 && params->stride.w == 1 && output->h == input->h &&
         output->w == input->w;
}

// Of a convolution, which may have groups.
static inline bool dsp_is_pointwise(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input,
                                    const cmsis_nn_dims *filter, const cmsis_nn_dims *output) {
  return filter->c == input->c && dsp_is_1x1_fast(params, input, filter, output);
}

#endif
