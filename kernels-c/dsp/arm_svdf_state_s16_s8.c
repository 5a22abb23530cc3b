// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp_vector.h"
#include "dsp_wide.h"

// What the newest step of memory of up to four filters is to hold, before it is quantised.
static dsp_sums filter_sums(const cmsis_nn_svdf_params *params, int32_t inputs, const int8_t *input,
                            const int8_t *filter, int32_t count) {
  return dsp_multiply_vector(input, -params->input_offset, filter, count, 0, inputs, dsp_bias_vector(NULL, count));
}

// All steps move by one; the oldest are gone.
static void move_steps(int16_t *state, int32_t count) {
  memmove(state, state + 1, (size_t)(count - 1) * sizeof *state);
}

// What does not fit wraps around, as in the instructions.
static int32_t multiply_add(int32_t a, int32_t b, int32_t sum) {
  return (int32_t)((uint32_t)sum + (uint32_t)(a * b));
}

static int32_t multiply_steps(const int16_t *steps, const int16_t *weights, int32_t count, int32_t sum) {
  for (; count >= 2; count -= 2) {
#if DSP_INSTRUCTIONS
    sum = dsp_multiply_pairs(dsp_load_pair(steps), dsp_load_pair(weights), sum);
#else
    sum = multiply_add(steps[1], weights[1], multiply_add(steps[0], weights[0], sum));
#endif
    steps += 2;
    weights += 2;
  }
  return count == 0 ? sum : multiply_add(*steps, *weights, sum);
}

arm_cmsis_nn_status arm_svdf_state_s16_s8(const cmsis_nn_context *input_ctx, const cmsis_nn_context *output_ctx,
                                          const cmsis_nn_svdf_params *svdf_params,
                                          const cmsis_nn_per_tensor_quant_params *input_quant_params,
                                          const cmsis_nn_per_tensor_quant_params *output_quant_params,
                                          const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                          const cmsis_nn_dims *state_dims, int16_t *state_data,
                                          const cmsis_nn_dims *weights_feature_dims,
                                          const int8_t *weights_feature_data, const cmsis_nn_dims *weights_time_dims,
                                          const int16_t *weights_time_data, const cmsis_nn_dims *bias_dims,
                                          const int32_t *bias_data, const cmsis_nn_dims *output_dims,
                                          int8_t *output_data) {
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
  const cmsis_nn_activation in = svdf_params->input_activation, out = svdf_params->output_activation;
  if (rank < 1 || filters % rank != 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }

  move_steps(state_data, batches * filters * memory);
  for (int32_t b = 0; b < batches; ++b) {
    int16_t *newest = &state_data[b * filters * memory + memory - 1];
    for (int32_t f = 0; f < filters; f += 4) {
      const int32_t count = filters - f < 4 ? filters - f : 4;
      const dsp_sums sums = filter_sums(svdf_params, inputs, &input_data[b * inputs],
                                        &weights_feature_data[f * inputs], count);
      const int32_t sum[4] = { sums.row0, sums.row1, sums.row2, sums.row3 };
      for (int32_t i = 0; i < count; ++i) {
        const int32_t value = dmo_requantize(sum[i], input_quant_params->multiplier, input_quant_params->shift);
        *newest = (int16_t)dmo_clamp(value, in.min, in.max);
        newest += memory;
      }
    }
  }

  const int32_t terms = rank * memory; // the memory of an output's filters is contiguous
  const int16_t *state = state_data;
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t u = 0; u < filters / rank; ++u) {
      const int32_t sum =
          multiply_steps(state, &weights_time_data[u * terms], terms, bias_data == NULL ? 0 : bias_data[u]);
      const int32_t value = dmo_requantize(sum, output_quant_params->multiplier, output_quant_params->shift);
      *output_data++ = (int8_t)dmo_clamp(value + svdf_params->output_offset, out.min, out.max);
      state += terms;
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
