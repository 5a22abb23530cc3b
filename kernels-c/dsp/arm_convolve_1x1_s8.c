// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_convolve.h"
#include "dsp_vector.h"

arm_cmsis_nn_status arm_convolve_1x1_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
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
  const int32_t depth = input_dims->c;
  const int32_t channels = output_dims->c;
  const cmsis_nn_tile stride = conv_params->stride;
  const dsp_range range =
      dsp_make_range(conv_params->output_offset, conv_params->activation.min, conv_params->activation.max);
  for (int32_t b = 0; b < output_dims->n; ++b) {
    for (int32_t oy = 0; oy < output_dims->h; ++oy) {
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        const int8_t *pixel =
            &input_data[((b * input_dims->h + oy * stride.h) * input_dims->w + ox * stride.w) * depth];
        for (int32_t c = 0; c < channels; c += 4) {
          const int32_t count = channels - c < 4 ? channels - c : 4;
          const dsp_sums sums =
              dsp_multiply_vector(pixel, conv_params->input_offset, &filter_data[c * depth], count, 0, depth,
                                  dsp_bias_vector(bias_data == NULL ? NULL : &bias_data[c], count));
          const uint32_t word = dsp_requantize_vector(&range, sums, count, &quant_params->multiplier[c],
                                                      &quant_params->shift[c], 1);
          dsp_store_vector(output_data, word, count);
          output_data += count;
        }
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
