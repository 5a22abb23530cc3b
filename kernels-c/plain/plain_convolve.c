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

// One pixel, and two channels, into values[0] and values[1]. They may be one and the same.
static void convolve_any(const plain_filters *filters, const int8_t *patch, int32_t channel, int32_t other,
                         int8_t *values) {
  const int32_t columns = filters->columns;
  const plain_output *const numbers = &filters->output;
  plain_products products = {
    .patch_end = patch + columns,
    .filter0_end = filters->filter + (channel + 1) * columns,
    .filter1_end = filters->filter + (other + 1) * columns,
    .minus_columns = -columns,
    .offset = filters->input_offset,
    .sum = { bias_of(filters, channel), bias_of(filters, other) },
  };
  plain_multiply(&products);
  values[0] = plain_finish(numbers, numbers->multiplier[channel], numbers->shift[channel], products.sum[0]);
  values[1] = plain_finish(numbers, numbers->multiplier[other], numbers->shift[other], products.sum[1]);
}

// An even number of channels from `first` on, whose sums begin with those in `start`.
static void convolve_fast(const plain_filters *filters, const int8_t *patch, int32_t step, int32_t pixels,
                          int32_t first, int32_t count, const int32_t *start, int8_t *output, int32_t output_step) {
  const int32_t columns = filters->columns, end = first + count;
  const plain_output *const numbers = &filters->output;
  plain_pairs pairs = {
    .patch0_end = patch + columns,
    .filter0_end = filters->filter + (first + 1) * columns,
    .filter1_end = filters->filter + (first + 2) * columns,
    .minus_columns = -columns,
    .minus_channels = -count,
    .start_end = start + count,
    .multiplier_end = numbers->multiplier + end,
    .shift_end = numbers->shift + end,
    .output0_end = output + end,
    .offset = numbers->offset,
    .min = numbers->min,
    .max = numbers->max,
    .raised_offset = numbers->offset + 127 - numbers->max,
    .saturated_min = numbers->min + 127 - numbers->max,
    .input_offset = filters->input_offset,
  };
  if (pixels == 2) {
    pairs.patch1_end = patch + step + columns;
    pairs.output1_end = output + output_step + end;
    plain_convolve_pairs(&pairs);
  } else {
    plain_convolve_single(&pairs);
  }
}

// An even number of channels, by a few of them, for which there is no table.
static void convolve_few(const plain_filters *filters, const int8_t *patch, int32_t step, int32_t pixels, int32_t first,
                         int32_t end, int8_t *output, int32_t output_step) {
  enum { FEW = 8 };
  int32_t start[FEW];
  for (int32_t c = first; c != end;) {
    const int32_t count = end - c < FEW ? end - c : FEW;
    for (int32_t i = 0; i < count; ++i) {
      start[i] = pixels == 2 ? make_start(filters, c + i) : bias_of(filters, c + i);
    }
    convolve_fast(filters, patch, step, pixels, c, count, start, output, output_step);
    c += count;
  }
}

void plain_convolve_pixels(const plain_filters *filters, const int8_t *patch, int32_t step, int32_t pixels,
                           int8_t *output, int32_t output_step) {
  const plain_output *const numbers = &filters->output;
  int32_t done = 0;
  // These are stored last, because the output may lie on the patches.
  int8_t exact[2 * PLAIN_MOST_EXACT][2];
  for (int32_t i = 0; i < pixels * numbers->exact_count; ++i) {
    const int32_t channel = numbers->exact[i / pixels];
    convolve_any(filters, patch + i % pixels * step, channel, channel, exact[i]);
  }
  if (numbers->is_fast) {
    done = filters->channels & ~1;
    const int32_t known = pixels == 2 ? filters->known & ~1 : 0;
    if (known != 0) {
      convolve_fast(filters, patch, step, pixels, 0, known, filters->start, output, output_step);
    }
    convolve_few(filters, patch, step, pixels, known, done, output, output_step);
  }
  for (int32_t c = done; c < filters->channels; c += 2) {
    const int32_t other = c + 1 < filters->channels ? c + 1 : c;
    for (int32_t i = 0; i < pixels; ++i) {
      int8_t values[2];
      convolve_any(filters, patch + i * step, c, other, values);
      output[i * output_step + c] = values[0];
      output[i * output_step + other] = values[1];
    }
  }
  for (int32_t i = 0; i < pixels * numbers->exact_count; ++i) {
    output[i % pixels * output_step + numbers->exact[i / pixels]] = exact[i][0];
  }
}
