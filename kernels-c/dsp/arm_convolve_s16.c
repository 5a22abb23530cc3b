// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_multiply_s16.h"
#include "dsp_patch_s16.h"

int32_t arm_convolve_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return dsp_patch_bytes_s16(input_dims->c * filter_dims->h * filter_dims->w);
}

// The first tap of an output pixel, and where it lies in its row.
typedef struct {
  int32_t top, left, x;
} position;

static position next_position(position at, const cmsis_nn_conv_params *params, int32_t width) {
  at.left += params->stride.w;
  ++at.x;
  if (at.x == width) {
    at = (position){ at.top + params->stride.h, -params->padding.w, 0 };
  }
  return at;
}

// The part of a layer that is one of its groups.
static dsp_filters_s16 group_of(dsp_filters_s16 filters, int32_t group) {
  const int32_t first = group * filters.channels;
  filters.filter += first * filters.columns;
  filters.scales = dsp_scales_from(filters.scales, first);
  filters.bias32 = filters.bias32 == NULL ? NULL : filters.bias32 + first;
  return filters;
}

// All pixels of a batch, by pairs.
static void convolve_batch(const dsp_patches_s16 *patches, const dsp_filters_s16 *filters, int32_t groups,
                           const cmsis_nn_dims *output_dims, uint32_t *scratch, int16_t *output) {
  const cmsis_nn_conv_params *const params = patches->params;
  const int32_t depth = output_dims->c;
  position first = { -params->padding.h, -params->padding.w, 0 };
  for (int32_t left = output_dims->h * output_dims->w; left > 0; left -= 2) {
    const int32_t pixels = left == 1 ? 1 : 2;
    // A last single pixel is both of them.
    const position second = pixels == 1 ? first : next_position(first, params, output_dims->w);
    dsp_load_patch_s16(patches, patches->input, scratch, 0, first.top, first.left);
    dsp_load_patch_s16(patches, patches->input, scratch, 1, second.top, second.left);
    dsp_multiply_pixels_s16(filters, scratch, pixels, output, depth);
    for (int32_t g = 1; g < groups; ++g) {
      const dsp_filters_s16 group = group_of(*filters, g);
      const int16_t *const input = &patches->input[g * patches->filter_dims->c];
      dsp_load_patch_s16(patches, input, scratch, 0, first.top, first.left);
      dsp_load_patch_s16(patches, input, scratch, 1, second.top, second.left);
      dsp_multiply_pixels_s16(&group, scratch, pixels, &output[g * group.channels], depth);
    }
    output += pixels * depth;
    first = next_position(second, params, output_dims->w);
  }
}

arm_cmsis_nn_status arm_convolve_s16(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                     const cmsis_nn_per_channel_quant_params *quant_params,
                                     const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                     const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                     const cmsis_nn_dims *bias_dims, const cmsis_nn_bias_data *bias_data,
                                     const cmsis_nn_dims *output_dims, int16_t *output_data) {
  (void)bias_dims;
  if (ctx->buf == NULL || filter_dims->c < 1 || input_dims->c % filter_dims->c != 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t groups = input_dims->c / filter_dims->c;
  if (output_dims->c % groups != 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t columns = filter_dims->h * filter_dims->w * filter_dims->c;
  const bool is_int32 = bias_data != NULL && bias_data->is_int32_bias;
  const void *const bias = bias_data == NULL ? NULL : bias_data->data;
  dsp_filters_s16 filters = {
    .filter = filter_data,
    .scales = dsp_make_scales(quant_params->multiplier, quant_params->shift, is_int32 ? NULL : bias,
                              conv_params->activation.min, conv_params->activation.max),
    .bias32 = is_int32 ? bias : NULL,
    .channels = output_dims->c / groups,
    .columns = columns,
    .is_int32 = is_int32,
  };
  filters.is_fast = !is_int32 && dsp_are_fast(&filters.scales, output_dims->c, false, columns);
  dsp_patches_s16 patches = { conv_params, input_dims, filter_dims, input_data, columns };
  for (int32_t b = 0; b < input_dims->n; ++b) {
    convolve_batch(&patches, &filters, groups, output_dims, ctx->buf, output_data);
    patches.input += input_dims->h * input_dims->w * input_dims->c;
    output_data += output_dims->h * output_dims->w * output_dims->c;
  }
  return ARM_CMSIS_NN_SUCCESS;
}
