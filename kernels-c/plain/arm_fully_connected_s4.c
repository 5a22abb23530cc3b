// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_int4.h"

static int32_t sum_of(const int8_t *input, int32_t inputs, int32_t offset) {
  int32_t sum = inputs * offset;
  for (int32_t i = 0; i < inputs; ++i) {
    sum += input[i];
  }
  return sum;
}

enum { BLOCK = 12 };

// By blocks of outputs, which are stored after their loads.
static void multiply_batch(const plain_int4_filters *filters, const int8_t *input, int8_t *output) {
  for (int32_t first = 0; first < filters->channels; first += BLOCK) {
    const int32_t count = filters->channels - first < BLOCK ? filters->channels - first : BLOCK;
    int8_t values[BLOCK];
    plain_convolve_int4_channels(filters, input, 0, 1, first, count, values, 0);
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
  // A weight with an offset is up to twice as large.
  const int32_t products = fc_params->filter_offset == 0 ? inputs : 2 * inputs;
  plain_int4_filters filters = {
    .output = plain_make_output(fc_params->output_offset, fc_params->activation.min, fc_params->activation.max, outputs,
                                &quant_params->multiplier, &quant_params->shift, 0, bias_data, products),
    .packed = filter_data,
    .bias = bias_data,
    .columns = inputs,
    .channels = outputs,
    .input_offset = fc_params->input_offset,
  };
  for (int32_t b = 0; b < input_dims->n; ++b) {
    if (fc_params->filter_offset != 0) {
      filters.further = fc_params->filter_offset * sum_of(input_data, inputs, fc_params->input_offset);
    }
    multiply_batch(&filters, input_data, output_data);
    input_data += inputs;
    output_data += outputs;
  }
  return ARM_CMSIS_NN_SUCCESS;
}
