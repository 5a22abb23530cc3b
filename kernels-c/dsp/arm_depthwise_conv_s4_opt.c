// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_depthwise.h"
#include "dsp_int4.h"

// The whole filter as bytes. CMSIS-NN asks for twice as much.
int32_t arm_depthwise_conv_s4_opt_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return input_dims->c * filter_dims->h * filter_dims->w;
}

arm_cmsis_nn_status arm_depthwise_conv_s4_opt(const cmsis_nn_context *ctx,
                                              const cmsis_nn_dw_conv_params *dw_conv_params,
                                              const cmsis_nn_per_channel_quant_params *quant_params,
                                              const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                              const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                              const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                              const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)bias_dims;
  if (ctx->buf == NULL || dw_conv_params->ch_mult != 1 || output_dims->c != input_dims->c) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  int8_t *const filter = ctx->buf;
  dsp_unpack(filter_data, 0, input_dims->c * filter_dims->h * filter_dims->w, filter);
  dsp_depthwise(dw_conv_params, quant_params, input_dims, input_data, filter_dims, filter, bias_data, output_dims,
                output_data);
  return ARM_CMSIS_NN_SUCCESS;
}
