// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_convolve.h"

static int32_t bias_of(const plain_filters *filters, int32_t channel) {
  return filters->bias == NULL ? 0 : filters->bias[channel];
}

static int32_t make_start(const plain_filters *filters, int32_t channel) {
  const int32_t weights = plain_sum(&filters->filter[channel * filters->columns], filters->columns);
  return bias_of(filters, channel) + filters->input_offset * weights;
}

void plain_prepare(plain_filters *filters) {
  filters->known = filters->channels < PLAIN_TABLE_CHANNELS ? filters->channels : PLAIN_TABLE_CHANNELS;
  for (int32_t c = 0; c < filters->known; ++c) {
    filters->start[c] = make_start(filters, c);
  }
}

static int32_t start_of(const plain_filters *filters, int32_t channel) {
  return channel < filters->known ? filters->start[channel] : make_start(filters, channel);
}

// The outputs of one channel for its sums in the pixels.
PLAIN_OUT_OF_LINE static void store_channel(const plain_output *numbers, int32_t channel, int32_t sum0, int32_t sum1,
                                            int8_t *output0, int8_t *output1) {
  const int32_t multiplier = numbers->multiplier[channel * numbers->step];
  const int32_t shift = numbers->shift[channel * numbers->step];
  *output0 = plain_finish(numbers, multiplier, shift, sum0);
  if (output1 != NULL) {
    *output1 = plain_finish(numbers, multiplier, shift, sum1);
  }
}

void plain_convolve_pixels(const plain_filters *filters, const int8_t *patch, int32_t step, int32_t pixels,
                           int8_t *output, int32_t output_step) {
  const int32_t columns = filters->columns, channels = filters->channels;
  plain_products products = { .patch0_end = patch + columns, .minus_columns = -columns };
  int8_t *second = NULL;
  if (pixels == 2) {
    products.patch1_end = patch + step + columns;
    second = output + output_step;
  }
  const int8_t *filter_end = filters->filter + columns;
  for (int32_t c = 0; c < channels; c += 2) {
    // The last of an odd number of channels is also its own second.
    const int32_t other = c + 1 < channels ? c + 1 : c;
    products.filter0_end = filter_end;
    products.filter1_end = filter_end + (other - c) * columns;
    filter_end += 2 * columns;
    if (second != NULL) {
      products.sum[0] = products.sum[2] = start_of(filters, c);
      products.sum[1] = products.sum[3] = start_of(filters, other);
      plain_multiply_two(&products);
    } else {
      products.sum[0] = bias_of(filters, c);
      products.sum[1] = bias_of(filters, other);
      plain_multiply_one(&products, filters->input_offset);
    }
    store_channel(&filters->output, c, products.sum[0], products.sum[2], output + c, second == NULL ? NULL : second + c);
    if (other != c) {
      store_channel(&filters->output, other, products.sum[1], products.sum[3], output + other,
                    second == NULL ? NULL : second + other);
    }
  }
}
