// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_fully_connected.h"
#include "plain_multiply.h"

// With an offset of the filter, sum((x + a) * (w + b)) is sum((x + a) * w) + b * sum(x + a).
typedef struct {
  plain_output output;
  const int8_t *filter;
  const int32_t *bias;
  int32_t inputs, input_offset;
} fc_layer;

enum { BLOCK = 12 };

static int32_t bias_of(const fc_layer *layer, int32_t output) {
  return layer->bias == NULL ? 0 : layer->bias[output];
}

static int8_t finish(const fc_layer *layer, int32_t output, int32_t sum) {
  const int32_t at = output * layer->output.step;
  return plain_finish(&layer->output, layer->output.multiplier[at], layer->output.shift[at], sum);
}

// `count` outputs from `first`, into `values`.
static void multiply_block(const fc_layer *layer, const int8_t *input, int32_t input_sum, int32_t first, int32_t count,
                           int8_t *values) {
  const int32_t inputs = layer->inputs;
  plain_products products = { .patch_end = input + inputs, .minus_columns = -inputs, .offset = layer->input_offset };
  for (int32_t i = 0; i < count; i += 2) {
    const int32_t output = first + i, other = i + 1 < count ? output + 1 : output;
    products.filter0_end = &layer->filter[(output + 1) * inputs];
    products.filter1_end = &layer->filter[(other + 1) * inputs];
    products.sum[0] = bias_of(layer, output) + input_sum;
    products.sum[1] = bias_of(layer, other) + input_sum;
    plain_multiply(&products);
    values[i] = finish(layer, output, products.sum[0]);
    values[i + other - output] = finish(layer, other, products.sum[1]);
  }
}

void plain_fully_connected(const cmsis_nn_fc_params *params, const int32_t *multiplier, const int32_t *shift,
                           int32_t step, const cmsis_nn_dims *input_dims, const int8_t *input,
                           const cmsis_nn_dims *filter_dims, const int8_t *filter, const int32_t *bias,
                           const cmsis_nn_dims *output_dims, int8_t *output) {
  const int32_t inputs = filter_dims->n, outputs = output_dims->c;
  // A weight with an offset is up to twice as large.
  const int32_t products = params->filter_offset == 0 ? inputs : 2 * inputs;
  const fc_layer layer = {
    .output = plain_make_output(params->output_offset, params->activation.min, params->activation.max, outputs,
                                multiplier, shift, step, bias, products),
    .filter = filter,
    .bias = bias,
    .inputs = inputs,
    .input_offset = params->input_offset,
  };
  for (int32_t b = 0; b < input_dims->n; ++b) {
    int32_t input_sum = 0;
    if (params->filter_offset != 0) {
      input_sum = params->filter_offset * (plain_sum(input, inputs) + inputs * params->input_offset);
    }
    for (int32_t first = 0; first < outputs; first += BLOCK) {
      const int32_t count = outputs - first < BLOCK ? outputs - first : BLOCK;
      int8_t values[BLOCK];
      multiply_block(&layer, input, input_sum, first, count, values);
      for (int32_t i = 0; i < count; ++i) {
        output[first + i] = values[i];
      }
    }
    input += inputs;
    output += outputs;
  }
}
