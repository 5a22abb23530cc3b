// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_int4.h"

static int32_t sum_of(const int8_t *input, int32_t inputs, int32_t offset) {
  int32_t sum = inputs * offset;
  for (int32_t i = 0; i < inputs; ++i) {
    sum += input[i];
  }
  return sum;
}

// Two outputs, which may be one and the same.
typedef struct {
  const cmsis_nn_fc_params *params;
  const int8_t *filter;
  const int32_t *bias;
  plain_output output;
  int32_t inputs;
  int32_t start; // what an offset of the filter adds
} fc_layer;

static void multiply_two(const fc_layer *layer, const int8_t *input, int32_t first, int32_t other, int8_t *value,
                         int8_t *other_value) {
  const plain_int4_pair pair = { layer->filter, first * layer->inputs, other * layer->inputs, layer->inputs };
  int32_t sums[2] = { layer->start, layer->start };
  if (layer->bias != NULL) {
    sums[0] += layer->bias[first];
    sums[1] += layer->bias[other];
  }
  plain_multiply_int4_row(&pair, input, layer->params->input_offset, sums);
  const int32_t multiplier = *layer->output.multiplier, shift = *layer->output.shift;
  *value = plain_finish(&layer->output, multiplier, shift, sums[0]);
  *other_value = plain_finish(&layer->output, multiplier, shift, sums[1]);
}

// By four outputs, which are stored after their loads.
static void multiply_batch(const fc_layer *layer, const int8_t *input, int32_t outputs, int8_t *output) {
  for (int32_t first = 0; first < outputs; first += 4) {
    const int32_t count = outputs - first < 4 ? outputs - first : 4;
    int8_t values[4];
    for (int32_t i = 0; i < count; i += 2) {
      const int32_t other = i + 1 < count ? i + 1 : i;
      multiply_two(layer, input, first + i, first + other, &values[i], &values[other]);
    }
    for (int32_t i = 0; i < count; ++i) {
      output[first + i] = values[i];
    }
  }
}

arm_cmsis_nn_status arm_fully_connected_s4(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
                                           const cmsis_nn_per_tensor_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                           const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                           const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)ctx;
  (void)bias_dims;
  const int32_t inputs = filter_dims->n, outputs = output_dims->c;
  fc_layer layer = {
    .params = fc_params,
    .filter = filter_data,
    .bias = bias_data,
    .output = { .offset = fc_params->output_offset, .min = fc_params->activation.min, .max = fc_params->activation.max,
                .multiplier = &quant_params->multiplier, .shift = &quant_params->shift },
    .inputs = inputs,
  };
  for (int32_t b = 0; b < input_dims->n; ++b) {
    if (fc_params->filter_offset != 0) {
      layer.start = fc_params->filter_offset * sum_of(input_data, inputs, fc_params->input_offset);
    }
    multiply_batch(&layer, input_data, outputs, output_data);
    input_data += inputs;
    output_data += outputs;
  }
  return ARM_CMSIS_NN_SUCCESS;
}
