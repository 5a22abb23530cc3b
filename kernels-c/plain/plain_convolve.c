// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_convolve.h"
#include "plain_pairs.h"

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

static int8_t finish(const plain_output *numbers, int32_t channel, int32_t sum) {
  const int32_t at = channel * numbers->step;
  return plain_finish(numbers, numbers->multiplier[at], numbers->shift[at], sum);
}

// One pixel, and two channels, or the last one.
static void convolve_one(const plain_filters *filters, const int8_t *patch, int32_t channel, int8_t *output) {
  const int32_t columns = filters->columns;
  const int32_t other = channel + 1 < filters->channels ? channel + 1 : channel;
  plain_products products = {
    .patch_end = patch + columns,
    .filter0_end = filters->filter + (channel + 1) * columns,
    .filter1_end = filters->filter + (other + 1) * columns,
    .minus_columns = -columns,
    .offset = filters->input_offset,
    .sum = { bias_of(filters, channel), bias_of(filters, other) },
  };
  plain_multiply(&products);
  output[channel] = finish(&filters->output, channel, products.sum[0]);
  output[other] = finish(&filters->output, other, products.sum[1]);
}

// An even number of channels from `first` on of two pixels, whose numbers are in `start`.
static void convolve_two(const plain_filters *filters, const int8_t *patch, int32_t step, int32_t first, int32_t count,
                         const int32_t *start, int8_t *output, int32_t output_step) {
  const int32_t columns = filters->columns, end = first + count;
  const plain_output *numbers = &filters->output;
  plain_pairs pairs = {
    .patch0_end = patch + columns,
    .patch1_end = patch + step + columns,
    .filter0_end = filters->filter + (first + 1) * columns,
    .filter1_end = filters->filter + (first + 2) * columns,
    .minus_columns = -columns,
    .minus_channels = -count,
    .start_end = start + count,
    .multiplier_end = numbers->multiplier + end,
    .shift_end = numbers->shift + end,
    .output0_end = output + end,
    .output1_end = output + output_step + end,
    .offset = numbers->offset,
    .min = numbers->min,
    .max = numbers->max,
    .raised_offset = numbers->offset + 127 - numbers->max,
    .saturated_min = numbers->min + 127 - numbers->max,
  };
  plain_convolve_pairs(&pairs);
}

void plain_convolve_pixels(const plain_filters *filters, const int8_t *patch, int32_t step, int32_t pixels,
                           int8_t *output, int32_t output_step) {
  int32_t done = 0;
  if (pixels == 2 && filters->output.is_fast) {
    const int32_t even = filters->channels & ~1;
    done = filters->known & ~1;
    if (done != 0) {
      convolve_two(filters, patch, step, 0, done, filters->start, output, output_step);
    }
    while (done != even) {
      enum { FEW = 8 };
      const int32_t count = even - done < FEW ? even - done : FEW;
      int32_t start[FEW];
      for (int32_t i = 0; i < count; ++i) {
        start[i] = make_start(filters, done + i);
      }
      convolve_two(filters, patch, step, done, count, start, output, output_step);
      done += count;
    }
  }
  for (int32_t c = done; c < filters->channels; c += 2) {
    for (int32_t i = 0; i < pixels; ++i) {
      convolve_one(filters, patch + i * step, c, output + i * output_step);
    }
  }
}
