// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_int4.h"
#include "plain_int4_block.h"

static int32_t bias_of(const plain_int4_filters *filters, int32_t channel) {
  return filters->further + (filters->bias == NULL ? 0 : filters->bias[channel]);
}

static int32_t weight_of(const plain_int4_filters *filters, int32_t channel) {
  return filters->first + channel * filters->columns;
}

// Sums wrap around: a bias may be near the ends of 32 bits.
static int32_t make_start(const plain_int4_filters *filters, int32_t channel) {
  const int32_t weights = plain_int4_sum(filters->packed, weight_of(filters, channel), filters->columns);
  return (int32_t)((uint32_t)bias_of(filters, channel) + (uint32_t)(filters->input_offset * weights));
}

PLAIN_INLINE int32_t start_of(const plain_int4_filters *filters, int32_t pixels, int32_t channel) {
  return pixels == 1                ? bias_of(filters, channel)
         : channel < filters->known ? filters->start[channel]
                                    : make_start(filters, channel);
}

plain_int4_filters plain_make_int4(const cmsis_nn_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                                   const int8_t *packed, const int32_t *bias, int32_t columns, int32_t channels) {
  return (plain_int4_filters){
    .output = plain_make_output(params->output_offset, params->activation.min, params->activation.max, channels,
                                quant->multiplier, quant->shift, 1, bias, columns),
    .packed = packed,
    .bias = bias,
    .columns = columns,
    .channels = channels,
    .input_offset = params->input_offset,
  };
}

void plain_prepare_int4(plain_int4_filters *filters, int32_t *table) {
  filters->known = filters->channels < PLAIN_INT4_TABLE ? filters->channels : PLAIN_INT4_TABLE;
  filters->start = table;
  for (int32_t c = 0; c < filters->known; ++c) {
    table[c] = make_start(filters, c);
  }
}

PLAIN_OUT_OF_LINE static int8_t finish_any(const plain_output *numbers, int32_t multiplier, int32_t shift,
                                           int32_t sum) {
  return plain_finish(numbers, multiplier, shift, sum);
}

// is_fast: plain_requantize takes the layer.
PLAIN_INLINE int8_t finish(const plain_output *numbers, bool is_fast, int32_t multiplier, int32_t shift, int32_t sum) {
  if (!is_fast) {
    return finish_any(numbers, multiplier, shift, sum);
  }
  const int32_t value = plain_requantize(sum, multiplier, shift) + numbers->offset;
  return (int8_t)dmo_clamp(value, numbers->min, numbers->max);
}

// A channel of one pixel or two.
PLAIN_INLINE void store(const plain_output *numbers, bool is_fast, int32_t channel, const int32_t *sums,
                        int32_t pixels, int8_t *output, int32_t output_step) {
  const int32_t multiplier = numbers->multiplier[channel * numbers->step];
  const int32_t shift = numbers->shift[channel * numbers->step];
  output[0] = finish(numbers, is_fast, multiplier, shift, sums[0]);
  if (pixels == 2) {
    output[output_step] = finish(numbers, is_fast, multiplier, shift, sums[1]);
  }
}

// Sums that begin near the ends of 32 bits may leave them and come back.
PLAIN_INLINE int32_t add(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a + (uint32_t)b);
}

// Where the patches of a pair of channels lie, and their outputs.
typedef struct {
  const int8_t *patch;
  int32_t step, pixels;
  int32_t output_step;
} int4_pixels;

// What an odd number of columns leaves over, of a pair of filters that lie behind each other or, if it is not split,
// are the same.
PLAIN_INLINE void add_last(const plain_int4_filters *filters, const int4_pixels *where, plain_int4_block *block,
                           bool is_split, int32_t pixels) {
  const int32_t last = filters->columns - 1, half = filters->columns / 2;
  const int32_t weight = plain_lower(block->filter0[half]);
  const int32_t other = is_split ? plain_upper(block->filter1[half]) : weight;
  const int32_t offset = pixels == 2 ? 0 : filters->input_offset;
  for (int32_t i = 0; i < pixels; ++i) {
    const int32_t value = where->patch[i * where->step + last] + offset;
    block->sums[i] = add(block->sums[i], value * weight);
    block->sums[pixels + i] = add(block->sums[pixels + i], value * other);
  }
}

// Channels of which the first begins with a byte: pairs, and a last one that is its own second. At least two columns.
PLAIN_INLINE void convolve_pairs(const plain_int4_filters *filters, const int4_pixels *where, int32_t channel,
                                 int32_t end, int32_t pixels, int8_t *output) {
  const int32_t columns = filters->columns, half = columns / 2;
  const int8_t *filter = &filters->packed[weight_of(filters, channel) / 2];
  const bool is_fast = filters->output.is_fast && filters->output.exact_count == 0;
  bool is_split = columns % 2 != 0;
  plain_int4_block block = {
    .patch0 = where->patch,
    .patch1 = where->patch + where->step,
    .patch0_end = where->patch + 2 * half,
    .offset = filters->input_offset,
  };
  for (; channel < end; channel += 2) {
    const bool is_single = channel + 1 == end;
    is_split = is_split && !is_single;
    const int32_t start = start_of(filters, pixels, channel);
    const int32_t other_start = is_single ? 0 : start_of(filters, pixels, channel + 1);
    block.filter0 = filter;
    block.filter1 = is_single ? filter : filter + half;
    block.sums[0] = start;
    block.sums[1] = pixels == 2 ? start : other_start;
    block.sums[2] = block.sums[3] = other_start;
    if (pixels == 2) {
      (is_split ? plain_multiply_two_split : plain_multiply_two_joined)(&block);
    } else {
      (is_split ? plain_multiply_one_split : plain_multiply_one_joined)(&block);
    }
    if (columns % 2 != 0) {
      add_last(filters, where, &block, is_split, pixels);
    }
    store(&filters->output, is_fast, channel, block.sums, pixels, output++, where->output_step);
    if (!is_single) {
      store(&filters->output, is_fast, channel + 1, &block.sums[pixels], pixels, output++, where->output_step);
    }
    filter += columns;
  }
}

PLAIN_OUT_OF_LINE static void convolve_one(const plain_int4_filters *filters, const int4_pixels *where,
                                           int32_t channel, int32_t end, int8_t *output) {
  convolve_pairs(filters, where, channel, end, 1, output);
}

PLAIN_OUT_OF_LINE static void convolve_two(const plain_int4_filters *filters, const int4_pixels *where,
                                           int32_t channel, int32_t end, int8_t *output) {
  convolve_pairs(filters, where, channel, end, 2, output);
}

// Two channels, which may be one and the same.
static void convolve_any(const plain_int4_filters *filters, const int4_pixels *where, int32_t channel, int32_t other,
                         int8_t *output) {
  const plain_int4_pair pair = { filters->packed, weight_of(filters, channel), weight_of(filters, other),
                                 filters->columns };
  const int32_t pixels = where->pixels;
  int32_t sums[4] = { 0, 0, 0, 0 };
  if (pixels == 2) {
    plain_multiply_int4_patches(&pair, where->patch, where->step, sums);
  } else {
    plain_multiply_int4_row(&pair, where->patch, filters->input_offset, sums);
  }
  for (int32_t i = 0; i < pixels; ++i) {
    sums[i] = add(sums[i], start_of(filters, pixels, channel));
    sums[pixels + i] = add(sums[pixels + i], start_of(filters, pixels, other));
  }
  store(&filters->output, false, channel, sums, pixels, output, where->output_step);
  if (other != channel) {
    store(&filters->output, false, other, &sums[pixels], pixels, output + 1, where->output_step);
  }
}

void plain_convolve_int4_channels(const plain_int4_filters *filters, const int8_t *patch, int32_t step, int32_t pixels,
                                  int32_t first, int32_t count, int8_t *output, int32_t output_step) {
  const int4_pixels where = { patch, step, pixels, output_step };
  const int32_t end = first + count;
  if (filters->columns > 1 && weight_of(filters, first) % 2 == 0) {
    (pixels == 2 ? convolve_two : convolve_one)(filters, &where, first, end, output);
    return;
  }
  for (int32_t channel = first; channel < end; channel += 2) {
    convolve_any(filters, &where, channel, channel + 1 < end ? channel + 1 : channel, output + (channel - first));
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
  int32_t table[PLAIN_INT4_TABLE];
  plain_int4_filters filters = plain_make_int4(params, quant, packed, bias, depth, channels);
  if (width > 1) {
    plain_prepare_int4(&filters, table);
  }
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t y = 0; y < height; ++y) {
      const int8_t *patch = &input[b * batch_step + y * row_step];
      for (int32_t left = width; left > 0; left -= 2) {
        const int32_t count = left == 1 ? 1 : 2;
        plain_convolve_int4_channels(&filters, patch, step, count, 0, channels, output, channels);
        patch += count * step;
        output += count * channels;
      }
    }
  }
}
