// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The sizes that the interface also has by core. Here they are those of any core, but for one.
#include "dsp_convolve.h"

int32_t arm_convolve_s8_get_buffer_size_mve(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return arm_convolve_s8_get_buffer_size(input_dims, filter_dims);
}

int32_t arm_convolve_wrapper_s8_get_buffer_size_dsp(const cmsis_nn_conv_params *conv_params,
                                                    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                    const cmsis_nn_dims *output_dims) {
  return arm_convolve_wrapper_s8_get_buffer_size(conv_params, input_dims, filter_dims, output_dims);
}

int32_t arm_convolve_wrapper_s8_get_buffer_size_mve(const cmsis_nn_conv_params *conv_params,
                                                    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                    const cmsis_nn_dims *output_dims) {
  return arm_convolve_wrapper_s8_get_buffer_size(conv_params, input_dims, filter_dims, output_dims);
}

// CMSIS-NN's kernel for 4-bit weights takes this size for its own: two bytes for each weight.
static int32_t widened_filter_bytes(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return input_dims->c * filter_dims->h * filter_dims->w * (int32_t)sizeof(int16_t);
}

int32_t arm_depthwise_conv_s8_opt_get_buffer_size_dsp(const cmsis_nn_dims *input_dims,
                                                      const cmsis_nn_dims *filter_dims) {
  return widened_filter_bytes(input_dims, filter_dims);
}

int32_t arm_depthwise_conv_s8_opt_get_buffer_size_mve(const cmsis_nn_dims *input_dims,
                                                      const cmsis_nn_dims *filter_dims) {
  return widened_filter_bytes(input_dims, filter_dims);
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size_dsp(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                          const cmsis_nn_dims *input_dims,
                                                          const cmsis_nn_dims *filter_dims,
                                                          const cmsis_nn_dims *output_dims) {
  return arm_depthwise_conv_wrapper_s8_get_buffer_size(dw_conv_params, input_dims, filter_dims, output_dims);
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size_mve(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                          const cmsis_nn_dims *input_dims,
                                                          const cmsis_nn_dims *filter_dims,
                                                          const cmsis_nn_dims *output_dims) {
  return arm_depthwise_conv_wrapper_s8_get_buffer_size(dw_conv_params, input_dims, filter_dims, output_dims);
}

int32_t arm_transpose_conv_s8_get_buffer_size_mve(const cmsis_nn_transpose_conv_params *transpose_conv_params,
                                                  const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                  const cmsis_nn_dims *out_dims) {
  return arm_transpose_conv_s8_get_buffer_size(transpose_conv_params, input_dims, filter_dims, out_dims);
}

int32_t arm_fully_connected_s8_get_buffer_size_dsp(const cmsis_nn_dims *filter_dims) {
  return arm_fully_connected_s8_get_buffer_size(filter_dims);
}

int32_t arm_fully_connected_s8_get_buffer_size_mve(const cmsis_nn_dims *filter_dims) {
  return arm_fully_connected_s8_get_buffer_size(filter_dims);
}

int32_t arm_avgpool_s8_get_buffer_size_dsp(int dim_dst_width, int ch_src) {
  return arm_avgpool_s8_get_buffer_size(dim_dst_width, ch_src);
}

int32_t arm_avgpool_s8_get_buffer_size_mve(int dim_dst_width, int ch_src) {
  return arm_avgpool_s8_get_buffer_size(dim_dst_width, ch_src);
}

int32_t arm_svdf_s8_get_buffer_size_dsp(const cmsis_nn_dims *filter_dims) {
  return arm_svdf_s8_get_buffer_size(filter_dims);
}

int32_t arm_svdf_s8_get_buffer_size_mve(const cmsis_nn_dims *filter_dims) {
  return arm_svdf_s8_get_buffer_size(filter_dims);
}
