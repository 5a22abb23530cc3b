// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_convolve.h"
#include "plain_patches.h"

// Two patches, one behind the other; CMSIS-NN asks for twice as much.
int32_t arm_convolve_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  (void)input_dims;
  return 2 * plain_patch_bytes(filter_dims);
}

arm_cmsis_nn_status arm_convolve_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                    const cmsis_nn_per_channel_quant_params *quant_params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                    const cmsis_nn_dims *upscale_dims, const cmsis_nn_dims *output_dims,
                                    int8_t *output_data) {
  (void)bias_dims;
  if (upscale_dims != NULL && (upscale_dims->h != 1 || upscale_dims->w != 1)) {
    return ARM_CMSIS_NN_NO_IMPL_ERROR;
  }
  if (ctx->buf == NULL || filter_dims->c < 1 || input_dims->c % filter_dims->c != 0 ||
      output_dims->c % (input_dims->c / filter_dims->c) != 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t groups = input_dims->c / filter_dims->c;
  const int32_t columns = plain_patch_bytes(filter_dims);
  const int32_t channels = output_dims->c, group_channels = channels / groups;
  const int32_t pixels = output_dims->h * output_dims->w;
  int8_t *const patches = ctx->buf;
  plain_filters filters;
  plain_begin_filters(&filters, conv_params, quant_params, filter_data, bias_data, columns, channels);
  filters.channels = group_channels;
  if (groups > 1 && filters.output.exact_count != 0) {
    // They are counted over all groups.
    filters.output.is_fast = false;
    filters.output.exact_count = 0;
  }
  plain_prepare(&filters);
  for (int32_t b = 0; b < output_dims->n; ++b) {
    const int8_t *batch = &input_data[b * input_dims->h * input_dims->w * input_dims->c];
    plain_pixel pixel = plain_first_pixel(conv_params);
    for (int32_t first = 0; first < pixels; first += 2) {
      const int32_t count = pixels - first < 2 ? 1 : 2;
      const plain_pixel second = plain_next_pixel(conv_params, output_dims->w, pixel);
      for (int32_t g = 0; g < groups; ++g) {
        const plain_patch_source source = { conv_params, input_dims, filter_dims, &batch[g * filter_dims->c] };
        plain_gather_patches(&source, patches, pixel, second, count);
        if (groups > 1) {
          const int32_t channel = g * group_channels;
          filters.filter = &filter_data[channel * columns];
          filters.bias = bias_data == NULL ? NULL : &bias_data[channel];
          filters.output.multiplier = &quant_params->multiplier[channel];
          filters.output.shift = &quant_params->shift[channel];
          plain_prepare(&filters);
        }
        plain_convolve_pixels(&filters, patches, columns, count, &output_data[g * group_channels], channels);
      }
      pixel = plain_next_pixel(conv_params, output_dims->w, second);
      output_data += count * channels;
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
