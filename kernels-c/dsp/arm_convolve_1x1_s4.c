// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_convolve.h"
#include "dsp_vector_int4.h"

arm_cmsis_nn_status arm_convolve_1x1_s4(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                        const cmsis_nn_per_channel_quant_params *quant_params,
                                        const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                        const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                        const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                        const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)ctx;
  (void)bias_dims;
  if (!dsp_is_1x1(conv_params, filter_dims)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t depth = input_dims->c, channels = output_dims->c;
  const cmsis_nn_tile stride = conv_params->stride;
  const cmsis_nn_fc_params params = { conv_params->input_offset, 0, conv_params->output_offset,
                                      conv_params->activation };
  const dsp_matrix matrix = { &params, quant_params->multiplier, quant_params->shift, 1, depth, filter_data,
                              bias_data };
  for (int32_t b = 0; b < output_dims->n; ++b) {
    for (int32_t oy = 0; oy < output_dims->h; ++oy) {
      const int8_t *pixel = &input_data[(b * input_dims->h + oy * stride.h) * input_dims->w * depth];
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        dsp_multiply_int4_matrix(&matrix, pixel, channels, output_data);
        pixel += stride.w * depth;
        output_data += channels;
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
