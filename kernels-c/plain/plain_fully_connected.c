// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_fully_connected.h"
#include "plain_multiply.h"
#include "plain_pairs.h"

// With an offset of the filter, sum((x + a) * (w + b)) is sum((x + a) * w) + b * sum(x + a): input_sum.
typedef struct {
  plain_output output;
  const int8_t *filter;
  const int32_t *bias;
  int32_t inputs, input_offset, input_sum;
} fc_layer;

// What the assembly reads of a block of outputs.
enum { BLOCK = 12 };
typedef struct {
  int32_t start[BLOCK], multiplier[BLOCK], shift[BLOCK];
} block_numbers;

static int32_t start_of(const fc_layer *layer, int32_t output) {
  return layer->bias == NULL ? layer->input_sum : layer->bias[output] + layer->input_sum;
}

// Two outputs, which may be one and the same, into values[0] and *other_value.
static void multiply_any(const fc_layer *layer, const int8_t *input, int32_t output, int32_t other, int8_t *value,
                         int8_t *other_value) {
  const int32_t inputs = layer->inputs, step = layer->output.step;
  const int32_t *const multiplier = layer->output.multiplier, *const shift = layer->output.shift;
  plain_products products = {
    .patch_end = input + inputs,
    .filter0_end = &layer->filter[(output + 1) * inputs],
    .filter1_end = &layer->filter[(other + 1) * inputs],
    .minus_columns = -inputs,
    .offset = layer->input_offset,
    .sum = { start_of(layer, output), start_of(layer, other) },
  };
  plain_multiply(&products);
  *value = plain_finish(&layer->output, multiplier[output * step], shift[output * step], products.sum[0]);
  *other_value = plain_finish(&layer->output, multiplier[other * step], shift[other * step], products.sum[1]);
}

// An even number of outputs from `first` on, into `values`. Where all share a scale it is in `numbers` already.
static void multiply_fast(const fc_layer *layer, block_numbers *numbers, const int8_t *input, int32_t first,
                          int32_t count, int8_t *values) {
  const int32_t inputs = layer->inputs;
  const plain_output *const output = &layer->output;
  for (int32_t i = 0; i < count; ++i) {
    numbers->start[i] = start_of(layer, first + i);
  }
  plain_pairs pairs = {
    .patch0_end = input + inputs,
    .filter0_end = &layer->filter[(first + 1) * inputs],
    .filter1_end = &layer->filter[(first + 2) * inputs],
    .minus_columns = -inputs,
    .minus_channels = -count,
    .start_end = numbers->start + count,
    .multiplier_end = output->step == 0 ? numbers->multiplier + count : output->multiplier + first + count,
    .shift_end = output->step == 0 ? numbers->shift + count : output->shift + first + count,
    .output0_end = values + count,
    .offset = output->offset,
    .min = output->min,
    .max = output->max,
    .raised_offset = output->offset + 127 - output->max,
    .saturated_min = output->min + 127 - output->max,
    .input_offset = layer->input_offset,
  };
  plain_convolve_single(&pairs);
}

// `count` outputs from `first` on.
static void multiply_block(const fc_layer *layer, block_numbers *numbers, const int8_t *input, int32_t first,
                           int32_t count, int8_t *output) {
  int8_t values[BLOCK];
  int32_t done = 0;
  if (layer->output.is_fast && layer->output.exact_count == 0 && count > 1) {
    done = count & ~1;
    multiply_fast(layer, numbers, input, first, done, values);
  }
  for (int32_t i = done; i < count; i += 2) {
    const int32_t other = i + 1 < count ? i + 1 : i;
    multiply_any(layer, input, first + i, first + other, &values[i], &values[other]);
  }
  for (int32_t i = 0; i < count; ++i) {
    output[i] = values[i];
  }
}

void plain_fully_connected(const cmsis_nn_fc_params *params, const int32_t *multiplier, const int32_t *shift,
                           int32_t step, const cmsis_nn_dims *input_dims, const int8_t *input,
                           const cmsis_nn_dims *filter_dims, const int8_t *filter, const int32_t *bias,
                           const cmsis_nn_dims *output_dims, int8_t *output) {
  const int32_t inputs = filter_dims->n, outputs = output_dims->c;
  // A weight with an offset is up to twice as large.
  const int32_t products = params->filter_offset == 0 ? inputs : 2 * inputs;
  fc_layer layer = {
    .output = plain_make_output(params->output_offset, params->activation.min, params->activation.max, outputs,
                                multiplier, shift, step, bias, products),
    .filter = filter,
    .bias = bias,
    .inputs = inputs,
    .input_offset = params->input_offset,
  };
  block_numbers numbers;
  for (int32_t i = 0; step == 0 && i < BLOCK; ++i) {
    numbers.multiplier[i] = multiplier[0];
    numbers.shift[i] = shift[0];
  }
  for (int32_t b = 0; b < input_dims->n; ++b) {
    if (params->filter_offset != 0) {
      layer.input_sum = params->filter_offset * (plain_sum(input, inputs) + inputs * params->input_offset);
    }
    for (int32_t first = 0; first < outputs; first += BLOCK) {
      const int32_t count = outputs - first < BLOCK ? outputs - first : BLOCK;
      multiply_block(&layer, &numbers, input, first, count, output + first);
    }
    input += inputs;
    output += outputs;
  }
}
