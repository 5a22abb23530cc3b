// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Functions of the CMSIS-NN interface with weights of 4 bits, over the reference kernels, as functions.c has others.
#include "arm_nnfunctions.h"
#include "dmo_int4.h"

#if VERSION >= 5
static dmo_shape shape_of(const cmsis_nn_dims *dims) {
  const dmo_shape shape = { dims->n, dims->h, dims->w, dims->c };
  return shape;
}

// Every byte of the scratch memory is stored.
static arm_cmsis_nn_status use(const cmsis_nn_context *ctx, int32_t bytes) {
  if (bytes > 0 && (ctx->buf == 0 || ctx->size != 0)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  for (int32_t i = 0; i < bytes; ++i) {
    ((volatile int8_t *)ctx->buf)[i] = (int8_t)i;
  }
  return ARM_CMSIS_NN_SUCCESS;
}

static int32_t products(const cmsis_nn_dims *input, const cmsis_nn_dims *filter) {
  return input->c * filter->w * filter->h;
}

#define LAYER(name, type, kernel_name, refused, size)                                                                  \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const type *params,                                            \
                           const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *input_dims,            \
                           const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,                \
                           const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *output_dims,      \
                           int8_t *output);                                                                            \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const type *params,                                            \
                           const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *input_dims,            \
                           const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,                \
                           const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *output_dims,      \
                           int8_t *output) {                                                                           \
    const dmo_conv2d_params kernel = {                                                                                 \
      { params->stride.h, params->stride.w, params->dilation.h, params->dilation.w, params->padding.h,                 \
        params->padding.w },                                                                                           \
      params->input_offset, params->output_offset, params->activation.min, params->activation.max,                     \
    };                                                                                                                 \
    const dmo_quant_per_channel scales = { quant->multiplier, quant->shift };                                          \
    const dmo_shape shapes[] = { shape_of(input_dims), shape_of(filter_dims), shape_of(output_dims) };                 \
    if (bias_dims->c != output_dims->c || (refused)) {                                                                 \
      return ARM_CMSIS_NN_ARG_ERROR;                                                                                   \
    }                                                                                                                  \
    kernel_name(&kernel, &scales, &shapes[0], input, &shapes[1], (const uint8_t *)filter, bias, &shapes[2], output);   \
    return use(ctx, size);                                                                                             \
  }
#define CONVOLVE(name, refused, size)                                                                                  \
  LAYER(name, cmsis_nn_conv_params, dmo_conv2d_s4, input_dims->c != filter_dims->c || (refused), size)
#define DEPTHWISE(name, refused, size)                                                                                 \
  LAYER(name, cmsis_nn_dw_conv_params, dmo_depthwise_conv2d_s4,                                                        \
        params->ch_mult * input_dims->c != output_dims->c || (refused), size)
#define IS_POINTWISE (filter_dims->w == 1 && filter_dims->h == 1 && params->padding.w == 0 && params->padding.h == 0)
#define IS_OPTIMISED                                                                                                   \
  (params->ch_mult == 1 && input_dims->n == 1 && params->dilation.w == 1 && params->dilation.h == 1)

int32_t arm_convolve_s4_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);
int32_t arm_convolve_s4_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return 4 * products(input_dims, filter_dims);
}

// Of weights of 8 bits: what TensorFlow Lite Micro asks for with 4 bits too.
int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input_dims,
                                                const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims);
int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input_dims,
                                                const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims) {
  return 4 * products(input_dims, filter_dims) + params->stride.w + 2 * params->stride.h + 4 * output_dims->w;
}

int32_t arm_convolve_1x1_s4_fast_get_buffer_size(const cmsis_nn_dims *input_dims);
int32_t arm_convolve_1x1_s4_fast_get_buffer_size(const cmsis_nn_dims *input_dims) {
  return input_dims->c;
}

int32_t arm_depthwise_conv_s4_opt_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);
int32_t arm_depthwise_conv_s4_opt_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return 2 * products(input_dims, filter_dims);
}

int32_t arm_depthwise_conv_wrapper_s4_get_buffer_size(const cmsis_nn_dw_conv_params *params,
                                                      const cmsis_nn_dims *input_dims,
                                                      const cmsis_nn_dims *filter_dims,
                                                      const cmsis_nn_dims *output_dims);
int32_t arm_depthwise_conv_wrapper_s4_get_buffer_size(const cmsis_nn_dw_conv_params *params,
                                                      const cmsis_nn_dims *input_dims,
                                                      const cmsis_nn_dims *filter_dims,
                                                      const cmsis_nn_dims *output_dims) {
  return 2 * products(input_dims, filter_dims) + params->ch_mult + output_dims->w;
}

CONVOLVE(arm_convolve_s4, 0, arm_convolve_s4_get_buffer_size(input_dims, filter_dims))
CONVOLVE(arm_convolve_wrapper_s4, 0,
         arm_convolve_wrapper_s8_get_buffer_size(params, input_dims, filter_dims, output_dims))
CONVOLVE(arm_convolve_1x1_s4, !IS_POINTWISE, 0)
CONVOLVE(arm_convolve_1x1_s4_fast, !IS_POINTWISE || params->stride.w != 1 || params->stride.h != 1,
         arm_convolve_1x1_s4_fast_get_buffer_size(input_dims))
DEPTHWISE(arm_depthwise_conv_s4, input_dims->c % 2 != 0, 0)
DEPTHWISE(arm_depthwise_conv_s4_opt, !IS_OPTIMISED, arm_depthwise_conv_s4_opt_get_buffer_size(input_dims, filter_dims))
DEPTHWISE(arm_depthwise_conv_wrapper_s4, !IS_OPTIMISED && input_dims->c % 2 != 0,
          arm_depthwise_conv_wrapper_s4_get_buffer_size(params, input_dims, filter_dims, output_dims))

arm_cmsis_nn_status arm_fully_connected_s4(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *params,
                                           const cmsis_nn_per_tensor_quant_params *quant,
                                           const cmsis_nn_dims *input_dims, const int8_t *input,
                                           const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                           const cmsis_nn_dims *output_dims, int8_t *output);
arm_cmsis_nn_status arm_fully_connected_s4(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *params,
                                           const cmsis_nn_per_tensor_quant_params *quant,
                                           const cmsis_nn_dims *input_dims, const int8_t *input,
                                           const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                           const cmsis_nn_dims *output_dims, int8_t *output) {
  const dmo_fully_connected_params kernel = { params->input_offset, 0, params->output_offset, params->activation.min,
                                              params->activation.max };
  const dmo_quant_per_tensor scale = { quant->multiplier, quant->shift };
  (void)ctx;
  if (bias_dims->c != output_dims->c || input_dims->n != output_dims->n) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  dmo_fully_connected_s4(&kernel, &scale, input_dims->n, filter_dims->n, output_dims->c, input,
                         (const uint8_t *)filter, bias, output);
  return ARM_CMSIS_NN_SUCCESS;
}
#endif

#if VERSION >= 6
int32_t arm_convolve_1_x_n_s4_get_buffer_size(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input_dims,
                                              const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims);
int32_t arm_convolve_1_x_n_s4_get_buffer_size(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input_dims,
                                              const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims) {
  return 4 * products(input_dims, filter_dims) + params->stride.w + output_dims->w;
}

CONVOLVE(arm_convolve_1_x_n_s4, input_dims->h != 1 || params->stride.w * input_dims->c % 4 != 0,
         arm_convolve_1_x_n_s4_get_buffer_size(params, input_dims, filter_dims, output_dims))
#endif
