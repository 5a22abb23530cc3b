// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_int4.h"
#include "dsp_patches.h"

// The same as for weights of 8 bits: TensorFlow Lite Micro asks for that size (`conv.cc`).
int32_t arm_convolve_s4_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return arm_convolve_s8_get_buffer_size(input_dims, filter_dims);
}

arm_cmsis_nn_status arm_convolve_s4(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                    const cmsis_nn_per_channel_quant_params *quant_params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                    const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)bias_dims;
  if (ctx->buf == NULL || filter_dims->c < 1 || input_dims->c % filter_dims->c != 0 ||
      output_dims->c % (input_dims->c / filter_dims->c) != 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t groups = input_dims->c / filter_dims->c;
  const int32_t columns = dsp_patch_columns(filter_dims);
  const int32_t channels = output_dims->c;
  const int32_t group_channels = channels / groups;
  const int32_t pixels = output_dims->h * output_dims->w;
  uint32_t *const rows = ctx->buf;
  int8_t *const gathered = (int8_t *)ctx->buf + dsp_rows_bytes(columns);
  dsp_int4_filters layer = {
    .filters = dsp_make_filters(conv_params, quant_params, columns, NULL, bias_data, channels),
    .packed = filter_data,
  };
  dsp_filters *const filters = &layer.filters;
  filters->channels = group_channels;

  for (int32_t b = 0; b < output_dims->n; ++b) {
    const int8_t *batch = &input_data[b * input_dims->h * input_dims->w * input_dims->c];
    int8_t *out = &output_data[b * pixels * channels];
    int32_t oy = 0, ox = 0;
    for (int32_t pixel = 0; pixel < pixels; pixel += DSP_ROWS) {
      const int32_t count = pixels - pixel < DSP_ROWS ? pixels - pixel : DSP_ROWS;
      for (int32_t g = 0; g < groups; ++g) {
        const dsp_patch_source source = { conv_params, input_dims, filter_dims, &batch[g * filter_dims->c] };
        dsp_load_patches(&source, output_dims, oy, ox, count, rows, gathered);
        if (groups > 1) {
          layer.first = g * group_channels * columns;
          filters->bias = bias_data == NULL ? NULL : &bias_data[g * group_channels];
          filters->multiplier = &quant_params->multiplier[g * group_channels];
          filters->shift = &quant_params->shift[g * group_channels];
        }
        dsp_multiply_int4_pixels(&layer, rows, count, &out[g * group_channels], channels);
      }
      out += DSP_ROWS * channels;
      ox += DSP_ROWS;
      while (ox >= output_dims->w) {
        ox -= output_dims->w;
        ++oy;
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
