// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp_vector.h"

int32_t arm_svdf_s8_get_buffer_size(const cmsis_nn_dims *filter_dims) {
  (void)filter_dims;
  return 0;
}

// What the newest step of memory of up to four filters is to hold, in a word. TensorFlow Lite Micro gives the range of
// 16 bits also for a memory of 8.
static uint32_t filter_input(const cmsis_nn_svdf_params *params, const cmsis_nn_per_tensor_quant_params *quant,
                             int32_t inputs, const int8_t *input, const int8_t *filter, int32_t count) {
  const dsp_range range = dsp_make_range(0, dmo_clamp(params->input_activation.min, INT8_MIN, INT8_MAX),
                                         dmo_clamp(params->input_activation.max, INT8_MIN, INT8_MAX));
  const dsp_sums sums = dsp_multiply_vector(input, -params->input_offset, filter, count, 0, inputs,
                                            dsp_bias_vector(NULL, count));
  return dsp_requantize_vector(&range, sums, count, &quant->multiplier, &quant->shift, 0);
}

arm_cmsis_nn_status arm_svdf_s8(const cmsis_nn_context *ctx, const cmsis_nn_context *input_ctx,
                                const cmsis_nn_context *output_ctx, const cmsis_nn_svdf_params *svdf_params,
                                const cmsis_nn_per_tensor_quant_params *input_quant_params,
                                const cmsis_nn_per_tensor_quant_params *output_quant_params,
                                const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                const cmsis_nn_dims *state_dims, int8_t *state_data,
                                const cmsis_nn_dims *weights_feature_dims, const int8_t *weights_feature_data,
                                const cmsis_nn_dims *weights_time_dims, const int8_t *weights_time_data,
                                const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)ctx;
  (void)input_ctx;
  (void)output_ctx;
  (void)state_dims;
  (void)bias_dims;
  (void)output_dims;
  const int32_t rank = svdf_params->rank;
  const int32_t batches = input_dims->n;
  const int32_t inputs = input_dims->h;
  const int32_t filters = weights_feature_dims->n;
  const int32_t memory = weights_time_dims->h;
  if (rank < 1 || filters % rank != 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }

  for (int32_t b = 0; b < batches; ++b) {
    int8_t *const state = &state_data[b * filters * memory];
    for (int32_t f = 0; f < filters; f += 4) {
      const int32_t count = filters - f < 4 ? filters - f : 4;
      const uint32_t newest = filter_input(svdf_params, input_quant_params, inputs, &input_data[b * inputs],
                                           &weights_feature_data[f * inputs], count);
      for (int32_t i = 0; i < count; ++i) {
        int8_t *const steps = &state[(f + i) * memory];
        for (int32_t m = 1; m < memory; ++m) {
          steps[m - 1] = steps[m];
        }
        steps[memory - 1] = (int8_t)(newest >> (8 * i));
      }
    }
  }

  const dsp_range range =
      dsp_make_range(svdf_params->output_offset, svdf_params->output_activation.min,
                     svdf_params->output_activation.max);
  const dsp_channel channel = { output_quant_params->multiplier, 0, output_quant_params->shift };
  const int32_t terms = rank * memory; // the memory of an output's filters is contiguous
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t u = 0; u < filters / rank; ++u) {
      const int8_t *const state = &state_data[b * filters * memory + u * terms];
      const int8_t *const weights = &weights_time_data[u * terms];
      int32_t sum = bias_data == NULL ? 0 : bias_data[u];
      for (int32_t i = 0; i < terms; i += 4) {
        const int32_t count = terms - i < 4 ? terms - i : 4;
        const uint32_t steps = count == 4 ? dsp_load4(&state[i]) : dsp_load_some(&state[i], count);
        const uint32_t four = count == 4 ? dsp_load4(&weights[i]) : dsp_load_some(&weights[i], count);
        sum = dsp_multiply_pairs(dsp_even(steps), dsp_even(four), sum);
        sum = dsp_multiply_pairs(dsp_odd(steps), dsp_odd(four), sum);
      }
      *output_data++ = (int8_t)dsp_requantize(DSP_EXACT, &range, channel, sum);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
