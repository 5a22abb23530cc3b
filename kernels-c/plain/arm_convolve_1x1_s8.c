// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_convolve.h"

arm_cmsis_nn_status arm_convolve_1x1_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                        const cmsis_nn_per_channel_quant_params *quant_params,
                                        const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                        const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                        const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                        const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)ctx;
  (void)bias_dims;
  if (!plain_is_1x1(conv_params, filter_dims)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const cmsis_nn_tile stride = conv_params->stride;
  const int32_t depth = input_dims->c, channels = output_dims->c;
  const int32_t step = stride.w * depth;
  int32_t rows = output_dims->h, width = output_dims->w, batches = output_dims->n;
  int32_t row_step = stride.h * input_dims->w * depth, batch_step = input_dims->h * input_dims->w * depth;
  if (plain_is_1x1_fast(conv_params, input_dims, filter_dims, output_dims)) {
    // All pixels lie in one row.
    width *= rows * batches;
    rows = batches = 1;
  }
  plain_filters filters;
  plain_begin_filters(&filters, conv_params, quant_params, filter_data, bias_data, depth, channels);
  if (width > 1) {
    plain_prepare(&filters);
  }
  for (; batches != 0; --batches) {
    const int8_t *row = input_data;
    for (int32_t y = rows; y != 0; --y) {
      const int8_t *patch = row;
      for (int32_t left = width; left > 0; left -= 2) {
        plain_convolve_pixels(&filters, patch, step, left == 1 ? 1 : 2, output_data, channels);
        patch += 2 * step;
        output_data += (left == 1 ? 1 : 2) * channels;
      }
      row += row_step;
    }
    input_data += batch_step;
  }
  return ARM_CMSIS_NN_SUCCESS;
}
