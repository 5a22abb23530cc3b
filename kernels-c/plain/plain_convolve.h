// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the convolutions and the fully connected layers share: outputs of one pixel or two, all channels.
//
// Of two pixels the offset of the input is taken out of the sums: sum((x + offset) * w) is
// sum(x * w) + offset * sum(w), whose last term is made once for the layer for as many channels as have room.
#ifndef PLAIN_CONVOLVE_H
#define PLAIN_CONVOLVE_H

#include "arm_nnfunctions.h"
#include "plain_multiply.h"

enum { PLAIN_TABLE_CHANNELS = 128 };

typedef struct {
  plain_output output;
  const int8_t *filter;  // `channels` filters of `columns` weights
  const int32_t *bias;   // or NULL
  int32_t columns, channels, input_offset;
  int32_t known;         // channels in the table
  int32_t start[PLAIN_TABLE_CHANNELS]; // bias + offset * sum(w)
} plain_filters;

// Makes the table; not needed for single pixels.
void plain_prepare(plain_filters *filters);

// Stores the outputs of a patch or, with `pixels` 2, two patches that are `step` bytes apart; the second one's outputs
// are output_step bytes behind the first one's. Order: pairs of channels | columns; the outputs of a pair are stored
// after its loads.
void plain_convolve_pixels(const plain_filters *filters, const int8_t *patch, int32_t step, int32_t pixels,
                           int8_t *output, int32_t output_step);

static inline void plain_begin_filters(plain_filters *filters, const cmsis_nn_conv_params *params,
                                       const cmsis_nn_per_channel_quant_params *quant, const int8_t *filter,
                                       const int32_t *bias, int32_t columns, int32_t channels) {
  filters->output = plain_make_output(params->output_offset, params->activation.min, params->activation.max, channels,
                                      quant->multiplier, quant->shift, 1, bias, columns);
  filters->filter = filter;
  filters->bias = bias;
  filters->columns = columns;
  filters->channels = channels;
  filters->input_offset = params->input_offset;
}

// TensorFlow Lite Micro also calls functions of 1x1 for fully connected layers, and then gives the filter's channels
// as those of the output.
static inline bool plain_is_1x1(const cmsis_nn_conv_params *params, const cmsis_nn_dims *filter) {
  return filter->h == 1 && filter->w == 1 && params->padding.h == 0 && params->padding.w == 0;
}

// Of a convolution, which may have groups: whether every output has its pixel of the input, and so no scratch is
// needed.
static inline bool plain_is_pointwise(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input,
                                      const cmsis_nn_dims *filter, const cmsis_nn_dims *output) {
  return filter->c == input->c && plain_is_1x1(params, filter) &&
         (output->h - 1) * params->stride.h < input->h && (output->w - 1) * params->stride.w < input->w;
}

static inline bool plain_is_1x1_fast(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input,
                                     const cmsis_nn_dims *filter, const cmsis_nn_dims *output) {
  return plain_is_1x1(params, filter) && params->stride.h == 1 && params->stride.w == 1 &&
         output->h == input->h && output->w == input->w;
}

#endif
