// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_convolve.h"
#include "dsp_int4.h"
#include "dsp_vector_int4.h"

int32_t arm_convolve_1x1_s4_fast_get_buffer_size(const cmsis_nn_dims *input_dims) {
  return arm_convolve_1x1_s8_fast_get_buffer_size(input_dims);
}

// Fewer are not worth laying out rows.
enum { LEAST_PIXELS = 3 };

// Rows that no pixel needs are copies of the last.
static void widen_pixels(uint32_t *rows, const int8_t *input, int32_t depth, int32_t offset, int32_t count) {
#if DSP_INSTRUCTIONS
  if (depth % DSP_GROUP_COLUMNS == 0 && count == DSP_ROWS) {
    dsp_widen_four(rows, input, depth, dsp_groups(depth), dsp_pair(offset, offset));
    return;
  }
#endif
  for (int32_t i = 0; i < DSP_ROWS; ++i) {
    dsp_widen(&rows[2 * i], &input[(i < count ? i : count - 1) * depth], depth, offset, false);
  }
}

DSP_OUT_OF_LINE static arm_cmsis_nn_status convolve(const cmsis_nn_context *ctx,
                                                    const cmsis_nn_conv_params *conv_params,
                                                    const cmsis_nn_per_channel_quant_params *quant_params,
                                                    const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                                    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                                    const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)bias_dims;
  if (ctx->buf == NULL || !dsp_is_1x1_fast(conv_params, input_dims, filter_dims, output_dims)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t depth = input_dims->c, channels = output_dims->c;
  int32_t pixels = output_dims->n * output_dims->h * output_dims->w;
  uint32_t *const rows = ctx->buf;
  if (pixels >= LEAST_PIXELS) {
    const dsp_int4_filters layer = {
      .filters = dsp_make_filters(conv_params, quant_params, depth, NULL, bias_data, channels),
      .packed = filter_data,
    };
    while (pixels >= LEAST_PIXELS) {
      const int32_t count = pixels < DSP_ROWS ? pixels : DSP_ROWS;
      widen_pixels(rows, input_data, depth, conv_params->input_offset, count);
      dsp_multiply_int4_pixels(&layer, rows, count, output_data, channels);
      input_data += count * depth;
      output_data += count * channels;
      pixels -= count;
    }
  }
  // The rest by itself: copies of the input, so that outputs may lie on it.
  const cmsis_nn_fc_params params = { conv_params->input_offset, 0, conv_params->output_offset,
                                      conv_params->activation };
  const dsp_matrix matrix = { &params, quant_params->multiplier, quant_params->shift, 1, depth, filter_data,
                              bias_data };
  memcpy(rows, input_data, (size_t)(pixels * depth));
  for (int32_t i = 0; i < pixels; ++i) {
    dsp_multiply_int4_matrix(&matrix, (const int8_t *)rows + i * depth, channels, output_data + i * channels);
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_convolve_1x1_s4_fast(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                             const cmsis_nn_per_channel_quant_params *quant_params,
                                             const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                             const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                             const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                             const cmsis_nn_dims *output_dims, int8_t *output_data) {
  // A call with the same arguments takes no stack of its own.
  if (!dsp_has_few_columns(input_dims->c)) {
    return convolve(ctx, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims,
                    bias_data, output_dims, output_data);
  }
  uint32_t rows[DSP_FEW_WORDS];
  const cmsis_nn_context few = { rows, sizeof rows };
  return convolve(&few, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims,
                  bias_data, output_dims, output_data);
}
