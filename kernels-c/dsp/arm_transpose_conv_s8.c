// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_convolve.h"

static int32_t patch_bytes(const cmsis_nn_dims *filter_dims) {
  return filter_dims->h * filter_dims->w * filter_dims->c;
}

// The input position that the tap carries to the output, along one axis; -1 if none does.
static int32_t input_position(int32_t output, int32_t padding, int32_t tap, int32_t stride, int32_t extent) {
  const int32_t at = output + padding - tap;
  return at >= 0 && at % stride == 0 && at / stride < extent ? at / stride : -1;
}

// For each tap of the filter the input that it carries to output (oy, ox), or the byte that the offset makes 0.
static void gather_patch(const cmsis_nn_transpose_conv_params *params, const cmsis_nn_dims *in, const int8_t *batch,
                         const cmsis_nn_dims *taps, int32_t oy, int32_t ox, uint32_t *row, int8_t *bytes) {
  const int8_t zero = (int8_t)-params->input_offset;
  const size_t depth = (size_t)taps->c;
  int8_t *to = bytes;
  for (int32_t fy = 0; fy < taps->h; ++fy) {
    const int32_t iy = input_position(oy, params->padding.h, fy, params->stride.h, in->h);
    for (int32_t fx = 0; fx < taps->w; ++fx) {
      const int32_t ix = input_position(ox, params->padding.w, fx, params->stride.w, in->w);
      if (iy < 0 || ix < 0) {
        memset(to, zero, depth);
      } else {
        memcpy(to, &batch[(iy * in->w + ix) * in->c], depth);
      }
      to += depth;
    }
  }
  const int32_t count = patch_bytes(taps);
  const int32_t missing = -count & (DSP_GROUP_COLUMNS - 1);
  memset(to, zero, (size_t)missing);
  dsp_widen(row, bytes, count + missing, params->input_offset, false);
}

int32_t arm_transpose_conv_s8_get_buffer_size(const cmsis_nn_transpose_conv_params *transpose_conv_params,
                                              const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                              const cmsis_nn_dims *out_dims) {
  (void)transpose_conv_params;
  (void)input_dims;
  (void)out_dims;
  const int32_t columns = patch_bytes(filter_dims);
  return dsp_rows_bytes(columns) + DSP_GROUP_COLUMNS * dsp_groups(columns);
}

int32_t arm_transpose_conv_s8_get_reverse_conv_buffer_size(
    const cmsis_nn_transpose_conv_params *transpose_conv_params, const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims) {
  (void)transpose_conv_params;
  (void)input_dims;
  (void)filter_dims;
  return 0;
}

arm_cmsis_nn_status arm_transpose_conv_s8(const cmsis_nn_context *ctx, const cmsis_nn_context *output_ctx,
                                          const cmsis_nn_transpose_conv_params *transpose_conv_params,
                                          const cmsis_nn_per_channel_quant_params *quant_params,
                                          const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                          const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                          const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                          const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)output_ctx;
  (void)bias_dims;
  const cmsis_nn_transpose_conv_params *const params = transpose_conv_params;
  if (ctx->buf == NULL || filter_dims->c != input_dims->c || params->stride.h < 1 || params->stride.w < 1) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t columns = patch_bytes(filter_dims);
  const int32_t channels = output_dims->c;
  const int32_t pixels = output_dims->h * output_dims->w;
  const cmsis_nn_conv_params numbers = {
    .input_offset = params->input_offset,
    .output_offset = params->output_offset,
    .activation = params->activation,
  };
  uint32_t *const rows = ctx->buf;
  int8_t *const bytes = (int8_t *)ctx->buf + dsp_rows_bytes(columns);
  const dsp_filters filters = dsp_make_filters(&numbers, quant_params, columns, filter_data, bias_data, channels);
  dsp_table table;
  dsp_prepare(&filters, &table, rows);

  for (int32_t b = 0; b < output_dims->n; ++b) {
    const int8_t *batch = &input_data[b * input_dims->h * input_dims->w * input_dims->c];
    int8_t *out = &output_data[b * pixels * channels];
    for (int32_t first = 0; first < pixels; first += DSP_ROWS) {
      const int32_t count = pixels - first < DSP_ROWS ? pixels - first : DSP_ROWS;
      for (int32_t i = 0; i < DSP_ROWS; ++i) {
        // Rows that no pixel needs are copies of the last.
        const int32_t pixel = first + (i < count ? i : count - 1);
        gather_patch(params, input_dims, batch, filter_dims, pixel / output_dims->w, pixel % output_dims->w,
                     &rows[2 * i], bytes);
      }
      dsp_multiply_some_pixels(&filters, &table, count, out, channels);
      out += DSP_ROWS * channels;
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
