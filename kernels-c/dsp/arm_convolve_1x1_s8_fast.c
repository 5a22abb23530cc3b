// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp_convolve.h"
#include "dsp_fully_connected.h"

int32_t arm_convolve_1x1_s8_fast_get_buffer_size(const cmsis_nn_dims *input_dims) {
  return dsp_scratch_rows_bytes(input_dims->c);
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
  if (output_dims->n * output_dims->h * output_dims->w == 1 && output_dims->c <= 4) {
    // A pixel for itself, all of whose outputs are stored after their loads.
    const cmsis_nn_fc_params params = { conv_params->input_offset, 0, conv_params->output_offset,
                                        conv_params->activation };
    const dsp_matrix matrix = { &params, quant_params->multiplier, quant_params->shift, 1, input_dims->c, filter_data,
                                bias_data };
    dsp_multiply_matrix(&matrix, input_data, 0, output_dims->c, output_data);
    return ARM_CMSIS_NN_SUCCESS;
  }
  const dsp_filters filters =
      dsp_make_filters(conv_params, quant_params, input_dims->c, filter_data, bias_data, output_dims->c);
  const int32_t depth = input_dims->c;
  const int32_t offset = conv_params->input_offset;
  const int32_t pixel_bytes = output_dims->c;
  int32_t pixels = output_dims->n * output_dims->h * output_dims->w;
  const int8_t *input = input_data;
  int8_t *output = output_data;
  uint32_t *const rows = ctx->buf;
  dsp_table table;
  dsp_prepare(&filters, &table, rows);

#if DSP_INSTRUCTIONS
  if (depth % DSP_GROUP_COLUMNS == 0) {
    const int32_t groups = dsp_groups(depth);
    const uint32_t offsets = dsp_pair(offset, offset);
    for (; pixels >= DSP_ROWS; pixels -= DSP_ROWS) {
      dsp_widen_four(rows, input, depth, groups, offsets);
      dsp_multiply_some_pixels(&filters, &table, DSP_ROWS, output, pixel_bytes);
      input += DSP_ROWS * depth;
      output += DSP_ROWS * pixel_bytes;
    }
  }
#endif
  for (; pixels > 0; pixels -= DSP_ROWS) {
    const int32_t count = pixels < DSP_ROWS ? pixels : DSP_ROWS;
    // Rows that no pixel needs are copies of the last.
    for (int32_t i = 0; i < DSP_ROWS; ++i) {
      dsp_widen(&rows[2 * i], &input[(i < count ? i : count - 1) * depth], depth, offset, false);
    }
    dsp_multiply_some_pixels(&filters, &table, count, output, pixel_bytes);
    input += DSP_ROWS * depth;
    output += DSP_ROWS * pixel_bytes;
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_convolve_1x1_s8_fast(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
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
