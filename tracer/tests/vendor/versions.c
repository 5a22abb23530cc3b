// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Earlier versions of the CMSIS-NN interface over the kernels of dsp/, which have version 7 and were compiled with
// these names changed. VERSION is 4 to 6, or 0 for functions that ask for too little scratch memory.
#define arm_convolve_s8 newest_convolve_s8
#define arm_convolve_s8_get_buffer_size newest_convolve_s8_size
#define arm_convolve_1_x_n_s8_get_buffer_size newest_convolve_1_x_n_s8_size
#define arm_svdf_s8 newest_svdf_s8
#define arm_svdf_s8_get_buffer_size newest_svdf_s8_size
#include "arm_nnfunctions.h"
#undef arm_convolve_s8
#undef arm_convolve_s8_get_buffer_size
#undef arm_convolve_1_x_n_s8_get_buffer_size
#undef arm_svdf_s8
#undef arm_svdf_s8_get_buffer_size

#if VERSION == 0
// Eight bytes less than it takes.
int32_t arm_convolve_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);
int32_t arm_convolve_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return newest_convolve_s8_size(input_dims, filter_dims) - 8;
}
#else
int32_t arm_convolve_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);
int32_t arm_convolve_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return newest_convolve_s8_size(input_dims, filter_dims);
}

arm_cmsis_nn_status arm_convolve_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                    const cmsis_nn_per_channel_quant_params *quant_params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                    const cmsis_nn_dims *output_dims, int8_t *output_data);
arm_cmsis_nn_status arm_convolve_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                    const cmsis_nn_per_channel_quant_params *quant_params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                    const cmsis_nn_dims *output_dims, int8_t *output_data) {
  return newest_convolve_s8(ctx, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data,
                            bias_dims, bias_data, (const cmsis_nn_dims *)0, output_dims, output_data);
}

#if VERSION == 6
int32_t arm_convolve_1_x_n_s8_get_buffer_size(const cmsis_nn_conv_params *conv_params,
                                              const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                              const cmsis_nn_dims *output_dims);
int32_t arm_convolve_1_x_n_s8_get_buffer_size(const cmsis_nn_conv_params *conv_params,
                                              const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                              const cmsis_nn_dims *output_dims) {
  return newest_convolve_1_x_n_s8_size(conv_params, input_dims, filter_dims, output_dims);
}
#else
int32_t arm_convolve_1_x_n_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);
int32_t arm_convolve_1_x_n_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return newest_convolve_s8_size(input_dims, filter_dims);
}
#endif

#if VERSION == 4
arm_cmsis_nn_status arm_svdf_s8(const cmsis_nn_context *input_ctx, const cmsis_nn_context *output_ctx,
                                const cmsis_nn_svdf_params *svdf_params,
                                const cmsis_nn_per_tensor_quant_params *input_quant_params,
                                const cmsis_nn_per_tensor_quant_params *output_quant_params,
                                const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                const cmsis_nn_dims *state_dims, int8_t *state_data,
                                const cmsis_nn_dims *weights_feature_dims, const int8_t *weights_feature_data,
                                const cmsis_nn_dims *weights_time_dims, const int8_t *weights_time_data,
                                const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                const cmsis_nn_dims *output_dims, int8_t *output_data);
arm_cmsis_nn_status arm_svdf_s8(const cmsis_nn_context *input_ctx, const cmsis_nn_context *output_ctx,
                                const cmsis_nn_svdf_params *svdf_params,
                                const cmsis_nn_per_tensor_quant_params *input_quant_params,
                                const cmsis_nn_per_tensor_quant_params *output_quant_params,
                                const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                const cmsis_nn_dims *state_dims, int8_t *state_data,
                                const cmsis_nn_dims *weights_feature_dims, const int8_t *weights_feature_data,
                                const cmsis_nn_dims *weights_time_dims, const int8_t *weights_time_data,
                                const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                const cmsis_nn_dims *output_dims, int8_t *output_data) {
  const cmsis_nn_context nothing = { (void *)0, 0 };
  // As version 4 does: the sums of the filters and of the units.
  const int32_t filters = input_dims->n * weights_feature_dims->n;
  const int32_t units = filters / svdf_params->rank;
  if (input_ctx->buf == 0 || output_ctx->buf == 0) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  for (int32_t i = 0; i < filters; ++i) {
    ((int32_t *)input_ctx->buf)[i] = i;
  }
  for (int32_t i = 0; i < units; ++i) {
    ((int32_t *)output_ctx->buf)[i] = i;
  }
  return newest_svdf_s8(&nothing, input_ctx, output_ctx, svdf_params, input_quant_params, output_quant_params,
                        input_dims, input_data, state_dims, state_data, weights_feature_dims, weights_feature_data,
                        weights_time_dims, weights_time_data, bias_dims, bias_data, output_dims, output_data);
}
#endif
#endif
