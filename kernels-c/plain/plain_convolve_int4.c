// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_int4.h"

static int32_t bias_of(const plain_int4_filters *filters, int32_t channel) {
  return filters->bias == NULL ? 0 : filters->bias[channel];
}

static int32_t weight_of(const plain_int4_filters *filters, int32_t channel) {
  return filters->first + channel * filters->columns;
}

// Sums wrap around: a bias may be near the ends of 32 bits.
static int32_t make_start(const plain_int4_filters *filters, int32_t channel) {
  const int32_t weights = plain_int4_sum(filters->packed, weight_of(filters, channel), filters->columns);
  return (int32_t)((uint32_t)bias_of(filters, channel) + (uint32_t)(filters->input_offset * weights));
}

static int32_t start_of(const plain_int4_filters *filters, int32_t channel) {
  return channel < filters->known ? filters->start[channel] : make_start(filters, channel);
}

void plain_begin_int4(plain_int4_filters *filters, const cmsis_nn_conv_params *params,
                      const cmsis_nn_per_channel_quant_params *quant, const int8_t *packed, const int32_t *bias,
                      int32_t columns, int32_t channels) {
  filters->output = (plain_output){
    .offset = params->output_offset,
    .min = params->activation.min,
    .max = params->activation.max,
    .multiplier = quant->multiplier,
    .shift = quant->shift,
  };
  filters->packed = packed;
  filters->bias = bias;
  filters->first = 0;
  filters->columns = columns;
  filters->channels = channels;
  filters->input_offset = params->input_offset;
  filters->known = 0;
}

void plain_prepare_int4(plain_int4_filters *filters) {
  filters->known = filters->channels < PLAIN_INT4_TABLE ? filters->channels : PLAIN_INT4_TABLE;
  for (int32_t c = 0; c < filters->known; ++c) {
    filters->start[c] = make_start(filters, c);
  }
}

static int8_t finish(const plain_int4_filters *filters, int32_t channel, int32_t sum) {
  const plain_output *const output = &filters->output;
  return plain_finish(output, output->multiplier[channel], output->shift[channel], sum);
}

static plain_int4_pair pair_of(const plain_int4_filters *filters, int32_t channel, int32_t other) {
  return (plain_int4_pair){ filters->packed, weight_of(filters, channel), weight_of(filters, other),
                            filters->columns };
}

// Two channels, which may be one and the same, of two pixels.
static void convolve_two(const plain_int4_filters *filters, const int8_t *patch, int32_t step, int32_t channel,
                         int32_t other, int8_t *output, int32_t output_step) {
  const uint32_t start = (uint32_t)start_of(filters, channel), other_start = (uint32_t)start_of(filters, other);
  const plain_int4_pair pair = pair_of(filters, channel, other);
  int32_t sums[4] = { 0, 0, 0, 0 };
  plain_multiply_int4_patches(&pair, patch, step, sums);
  output[channel] = finish(filters, channel, (int32_t)(start + (uint32_t)sums[0]));
  output[output_step + channel] = finish(filters, channel, (int32_t)(start + (uint32_t)sums[1]));
  output[other] = finish(filters, other, (int32_t)(other_start + (uint32_t)sums[2]));
  output[output_step + other] = finish(filters, other, (int32_t)(other_start + (uint32_t)sums[3]));
}

static void convolve_one(const plain_int4_filters *filters, const int8_t *patch, int32_t channel, int32_t other,
                         int8_t *output) {
  const plain_int4_pair pair = pair_of(filters, channel, other);
  int32_t sums[2] = { bias_of(filters, channel), bias_of(filters, other) };
  plain_multiply_int4_row(&pair, patch, filters->input_offset, sums);
  output[channel] = finish(filters, channel, sums[0]);
  output[other] = finish(filters, other, sums[1]);
}

void plain_convolve_int4_pixels(const plain_int4_filters *filters, const int8_t *patch, int32_t step, int32_t pixels,
                                int8_t *output, int32_t output_step) {
  for (int32_t c = 0; c < filters->channels; c += 2) {
    const int32_t other = c + 1 < filters->channels ? c + 1 : c;
    if (pixels == 2) {
      convolve_two(filters, patch, step, c, other, output, output_step);
    } else {
      convolve_one(filters, patch, c, other, output);
    }
  }
}

void plain_convolve_int4_1x1(const cmsis_nn_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                             const cmsis_nn_dims *input_dims, const int8_t *input, const int8_t *packed,
                             const int32_t *bias, const cmsis_nn_dims *output_dims, bool is_joined, int8_t *output) {
  const cmsis_nn_tile stride = params->stride;
  const int32_t depth = input_dims->c, channels = output_dims->c;
  const int32_t step = stride.w * depth, row_step = stride.h * input_dims->w * depth;
  const int32_t batch_step = input_dims->h * input_dims->w * depth;
  const int32_t pixels = output_dims->n * output_dims->h * output_dims->w;
  const int32_t width = is_joined ? pixels : output_dims->w;
  const int32_t height = is_joined ? 1 : output_dims->h, batches = is_joined ? 1 : output_dims->n;
  plain_int4_filters filters;
  plain_begin_int4(&filters, params, quant, packed, bias, depth, channels);
  if (width > 1) {
    plain_prepare_int4(&filters);
  }
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t y = 0; y < height; ++y) {
      const int8_t *patch = &input[b * batch_step + y * row_step];
      for (int32_t left = width; left > 0; left -= 2) {
        const int32_t count = left == 1 ? 1 : 2;
        plain_convolve_int4_pixels(&filters, patch, step, count, output, channels);
        patch += count * step;
        output += count * channels;
      }
    }
  }
}
