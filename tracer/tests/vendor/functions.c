// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Functions of the CMSIS-NN interface that dsp/ does not have, over the reference kernels. VERSION is 4 to 7. Each looks
// at its arguments as the vendor's does, and asks for scratch memory so that a wrong size would show.
#include <stdbool.h>

// They are declared as each version has them.
#define ARM_NNFUNCTIONS_S16_H
#include "arm_nnfunctions.h"
#include "dmo_broadcast.h"
#include "dmo_int16.h"
#include "dmo_softmax.h"
#include "dmo_svdf.h"
#include "dmo_uint8.h"

static dmo_shape shape_of(const cmsis_nn_dims *dims) {
  const dmo_shape shape = { dims->n, dims->h, dims->w, dims->c };
  return shape;
}

// Every byte of the scratch memory is stored.
static arm_cmsis_nn_status use(const cmsis_nn_context *ctx, int32_t bytes) {
  if (ctx->buf == 0 || ctx->size != 0) {
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

static dmo_conv2d_params conv_params(cmsis_nn_tile stride, cmsis_nn_tile padding, cmsis_nn_tile dilation,
                                     cmsis_nn_activation activation) {
  const dmo_conv2d_params params = {
    { stride.h, stride.w, dilation.h, dilation.w, padding.h, padding.w }, 0, 0, activation.min, activation.max,
  };
  return params;
}

#if VERSION >= 6
typedef const cmsis_nn_bias_data *passed_bias;
#define WIDE(bias) ((const int64_t *)(bias)->data)
#define IS_WIDE(bias) (!(bias)->is_int32_bias)
#else
typedef const int64_t *passed_bias;
#define WIDE(bias) (bias)
#define IS_WIDE(bias) true
#endif

#define CONVOLVE(name, size)                                                                                           \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *params,                            \
                           const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *input_dims,            \
                           const int16_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,               \
                           const cmsis_nn_dims *bias_dims, passed_bias bias, const cmsis_nn_dims *output_dims,         \
                           int16_t *output);                                                                           \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *params,                            \
                           const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *input_dims,            \
                           const int16_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,               \
                           const cmsis_nn_dims *bias_dims, passed_bias bias, const cmsis_nn_dims *output_dims,         \
                           int16_t *output) {                                                                          \
    const dmo_conv2d_params kernel =                                                                                   \
        conv_params(params->stride, params->padding, params->dilation, params->activation);                            \
    const dmo_quant_per_channel scales = { quant->multiplier, quant->shift };                                          \
    const dmo_shape shapes[] = { shape_of(input_dims), shape_of(filter_dims), shape_of(output_dims) };                 \
    if (bias_dims->c != output_dims->c || !IS_WIDE(bias)) {                                                            \
      return ARM_CMSIS_NN_ARG_ERROR;                                                                                   \
    }                                                                                                                  \
    dmo_conv2d_s16(&kernel, &scales, &shapes[0], input, &shapes[1], filter, WIDE(bias), &shapes[2], output);           \
    return use(ctx, size);                                                                                             \
  }

int32_t arm_convolve_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);
int32_t arm_convolve_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return 4 * products(input_dims, filter_dims);
}

int32_t arm_convolve_wrapper_s16_get_buffer_size(const cmsis_nn_conv_params *conv_params,
                                                 const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                 const cmsis_nn_dims *output_dims);
int32_t arm_convolve_wrapper_s16_get_buffer_size(const cmsis_nn_conv_params *params, const cmsis_nn_dims *input_dims,
                                                 const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims) {
  return 4 * products(input_dims, filter_dims) + params->stride.w + 2 * params->stride.h + 4 * output_dims->w;
}

CONVOLVE(arm_convolve_s16, arm_convolve_s16_get_buffer_size(input_dims, filter_dims))
CONVOLVE(arm_convolve_wrapper_s16,
         arm_convolve_wrapper_s16_get_buffer_size(params, input_dims, filter_dims, output_dims))

#if VERSION < 6
int32_t arm_convolve_fast_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);
int32_t arm_convolve_fast_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return 2 * products(input_dims, filter_dims);
}

CONVOLVE(arm_convolve_fast_s16, arm_convolve_fast_s16_get_buffer_size(input_dims, filter_dims))
#endif

#define DEPTHWISE(name, size)                                                                                          \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *params,                         \
                           const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *input_dims,            \
                           const int16_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,               \
                           const cmsis_nn_dims *bias_dims, const int64_t *bias, const cmsis_nn_dims *output_dims,      \
                           int16_t *output);                                                                           \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *params,                         \
                           const cmsis_nn_per_channel_quant_params *quant, const cmsis_nn_dims *input_dims,            \
                           const int16_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,               \
                           const cmsis_nn_dims *bias_dims, const int64_t *bias, const cmsis_nn_dims *output_dims,      \
                           int16_t *output) {                                                                          \
    const dmo_conv2d_params kernel =                                                                                   \
        conv_params(params->stride, params->padding, params->dilation, params->activation);                            \
    const dmo_quant_per_channel scales = { quant->multiplier, quant->shift };                                          \
    const dmo_shape shapes[] = { shape_of(input_dims), shape_of(filter_dims), shape_of(output_dims) };                 \
    const int32_t bytes = size;                                                                                        \
    if (bias_dims->c != output_dims->c || params->ch_mult * input_dims->c != output_dims->c) {                         \
      return ARM_CMSIS_NN_ARG_ERROR;                                                                                   \
    }                                                                                                                  \
    dmo_depthwise_conv2d_s16(&kernel, &scales, &shapes[0], input, &shapes[1], filter, bias, &shapes[2], output);       \
    return bytes > 0 ? use(ctx, bytes) : ARM_CMSIS_NN_SUCCESS;                                                         \
  }

int32_t arm_depthwise_conv_fast_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);
int32_t arm_depthwise_conv_fast_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims) {
  return 2 * products(input_dims, filter_dims);
}

int32_t arm_depthwise_conv_wrapper_s16_get_buffer_size(const cmsis_nn_dw_conv_params *params,
                                                       const cmsis_nn_dims *input_dims,
                                                       const cmsis_nn_dims *filter_dims,
                                                       const cmsis_nn_dims *output_dims);
int32_t arm_depthwise_conv_wrapper_s16_get_buffer_size(const cmsis_nn_dw_conv_params *params,
                                                       const cmsis_nn_dims *input_dims,
                                                       const cmsis_nn_dims *filter_dims,
                                                       const cmsis_nn_dims *output_dims) {
  return 2 * products(input_dims, filter_dims) + params->ch_mult + output_dims->w;
}

DEPTHWISE(arm_depthwise_conv_s16, 0)
DEPTHWISE(arm_depthwise_conv_fast_s16, arm_depthwise_conv_fast_s16_get_buffer_size(input_dims, filter_dims))
DEPTHWISE(arm_depthwise_conv_wrapper_s16,
          arm_depthwise_conv_wrapper_s16_get_buffer_size(params, input_dims, filter_dims, output_dims))

int32_t arm_fully_connected_s16_get_buffer_size(const cmsis_nn_dims *filter_dims);
int32_t arm_fully_connected_s16_get_buffer_size(const cmsis_nn_dims *filter_dims) {
  return 2 * filter_dims->n + filter_dims->c;
}

arm_cmsis_nn_status arm_fully_connected_s16(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *params,
                                            const cmsis_nn_per_tensor_quant_params *quant,
                                            const cmsis_nn_dims *input_dims, const int16_t *input,
                                            const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                            const cmsis_nn_dims *bias_dims, const int64_t *bias,
                                            const cmsis_nn_dims *output_dims, int16_t *output);
arm_cmsis_nn_status arm_fully_connected_s16(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *params,
                                            const cmsis_nn_per_tensor_quant_params *quant,
                                            const cmsis_nn_dims *input_dims, const int16_t *input,
                                            const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                            const cmsis_nn_dims *bias_dims, const int64_t *bias,
                                            const cmsis_nn_dims *output_dims, int16_t *output) {
  const dmo_fully_connected_params kernel = { 0, 0, 0, params->activation.min, params->activation.max };
  const dmo_quant_per_tensor scale = { quant->multiplier, quant->shift };
  if (bias_dims->c != output_dims->c || input_dims->n != output_dims->n) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  dmo_fully_connected_s16(&kernel, &scale, input_dims->n, filter_dims->n, output_dims->c, input, filter, bias, output);
  return use(ctx, arm_fully_connected_s16_get_buffer_size(filter_dims));
}

#define POOL(name, kernel_name, bytes)                                                                                 \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *params,                            \
                           const cmsis_nn_dims *input_dims, const int16_t *input, const cmsis_nn_dims *filter_dims,    \
                           const cmsis_nn_dims *output_dims, int16_t *output);                                         \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *params,                            \
                           const cmsis_nn_dims *input_dims, const int16_t *input, const cmsis_nn_dims *filter_dims,    \
                           const cmsis_nn_dims *output_dims, int16_t *output) {                                        \
    const dmo_pool_params kernel = {                                                                                   \
      filter_dims->h, filter_dims->w, params->stride.h, params->stride.w,                                              \
      params->padding.h, params->padding.w, params->activation.min, params->activation.max,                            \
    };                                                                                                                 \
    dmo_shape shapes[] = { shape_of(input_dims), shape_of(output_dims) };                                              \
    if (VERSION < 6) {                                                                                                 \
      shapes[0].n = shapes[1].n = 1;                                                                                   \
    }                                                                                                                  \
    kernel_name(&kernel, &shapes[0], input, &shapes[1], output);                                                       \
    return (bytes) > 0 ? use(ctx, bytes) : ARM_CMSIS_NN_SUCCESS;                                                       \
  }

int32_t arm_avgpool_s16_get_buffer_size(const int width, const int channels);
int32_t arm_avgpool_s16_get_buffer_size(const int width, const int channels) {
  return 4 * channels + width;
}

POOL(arm_max_pool_s16, dmo_max_pool_s16, 0)
POOL(arm_avgpool_s16, dmo_avg_pool_s16, arm_avgpool_s16_get_buffer_size(output_dims->w, input_dims->c))

arm_cmsis_nn_status arm_elementwise_add_s16(const int16_t *a, const int16_t *b, const int32_t a_offset,
                                            const int32_t a_mult, const int32_t a_shift, const int32_t b_offset,
                                            const int32_t b_mult, const int32_t b_shift, const int32_t left_shift,
                                            int16_t *output, const int32_t offset, const int32_t mult,
                                            const int32_t shift, const int32_t min, const int32_t max,
                                            const int32_t count);
arm_cmsis_nn_status arm_elementwise_add_s16(const int16_t *a, const int16_t *b, const int32_t a_offset,
                                            const int32_t a_mult, const int32_t a_shift, const int32_t b_offset,
                                            const int32_t b_mult, const int32_t b_shift, const int32_t left_shift,
                                            int16_t *output, const int32_t offset, const int32_t mult,
                                            const int32_t shift, const int32_t min, const int32_t max,
                                            const int32_t count) {
  const dmo_add_params params = {
    a_offset, b_offset, offset, { a_mult, a_shift }, { b_mult, b_shift }, { mult, shift }, min, max,
  };
  if (left_shift != DMO_ADD_LEFT_SHIFT_S16) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  dmo_add_s16(&params, count, a, b, output);
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_mul_s16(const int16_t *a, const int16_t *b, const int32_t a_offset,
                                            const int32_t b_offset, int16_t *output, const int32_t offset,
                                            const int32_t mult, const int32_t shift, const int32_t min,
                                            const int32_t max, const int32_t count);
arm_cmsis_nn_status arm_elementwise_mul_s16(const int16_t *a, const int16_t *b, const int32_t a_offset,
                                            const int32_t b_offset, int16_t *output, const int32_t offset,
                                            const int32_t mult, const int32_t shift, const int32_t min,
                                            const int32_t max, const int32_t count) {
  const dmo_mul_params params = { a_offset, b_offset, offset, { mult, shift }, min, max };
  dmo_mul_s16(&params, count, a, b, output);
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_softmax_s16(const int16_t *input, const int32_t rows, const int32_t depth, const int32_t mult,
                                    const int32_t shift, const cmsis_nn_softmax_lut_s16 *tables, int16_t *output);
arm_cmsis_nn_status arm_softmax_s16(const int16_t *input, const int32_t rows, const int32_t depth, const int32_t mult,
                                    const int32_t shift, const cmsis_nn_softmax_lut_s16 *tables, int16_t *output) {
  const dmo_softmax_s16_params params = { { mult, shift } };
  dmo_softmax_s16(&params, rows, depth, input, tables->exp_lut, tables->one_by_one_lut, output);
  return ARM_CMSIS_NN_SUCCESS;
}

void arm_softmax_s8_s16(const int8_t *input, const int32_t rows, const int32_t depth, const int32_t mult,
                        const int32_t shift, const int32_t diff_min, int16_t *output);
void arm_softmax_s8_s16(const int8_t *input, const int32_t rows, const int32_t depth, const int32_t mult,
                        const int32_t shift, const int32_t diff_min, int16_t *output) {
  const dmo_softmax_params params = { { mult, shift }, diff_min };
  dmo_softmax_s8_s16(&params, rows, depth, input, output);
}

void arm_softmax_u8(const uint8_t *input, const int32_t rows, const int32_t depth, const int32_t mult,
                    const int32_t shift, const int32_t diff_min, uint8_t *output);
void arm_softmax_u8(const uint8_t *input, const int32_t rows, const int32_t depth, const int32_t mult,
                    const int32_t shift, const int32_t diff_min, uint8_t *output) {
  const dmo_softmax_params params = { { mult, shift }, diff_min };
  dmo_softmax_u8(&params, rows, depth, input, output);
}

#if VERSION >= 7
#define EXTREME(name, kernel)                                                                                          \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const int8_t *a, const cmsis_nn_dims *a_dims, const int8_t *b, \
                           const cmsis_nn_dims *b_dims, int8_t *output, const cmsis_nn_dims *output_dims);             \
  arm_cmsis_nn_status name(const cmsis_nn_context *ctx, const int8_t *a, const cmsis_nn_dims *a_dims, const int8_t *b, \
                           const cmsis_nn_dims *b_dims, int8_t *output, const cmsis_nn_dims *output_dims) {            \
    const dmo_shape shapes[] = { shape_of(a_dims), shape_of(b_dims), shape_of(output_dims) };                          \
    (void)ctx;                                                                                                         \
    kernel(&shapes[0], a, &shapes[1], b, &shapes[2], output);                                                          \
    return ARM_CMSIS_NN_SUCCESS;                                                                                       \
  }

EXTREME(arm_maximum_s8, dmo_maximum_s8)
EXTREME(arm_minimum_s8, dmo_minimum_s8)
#endif

arm_cmsis_nn_status arm_svdf_state_s16_s8(const cmsis_nn_context *input_ctx, const cmsis_nn_context *output_ctx,
                                          const cmsis_nn_svdf_params *params,
                                          const cmsis_nn_per_tensor_quant_params *input_quant,
                                          const cmsis_nn_per_tensor_quant_params *output_quant,
                                          const cmsis_nn_dims *input_dims, const int8_t *input,
                                          const cmsis_nn_dims *state_dims, int16_t *state,
                                          const cmsis_nn_dims *features_dims, const int8_t *features,
                                          const cmsis_nn_dims *times_dims, const int16_t *times,
                                          const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                          const cmsis_nn_dims *output_dims, int8_t *output);
arm_cmsis_nn_status arm_svdf_state_s16_s8(const cmsis_nn_context *input_ctx, const cmsis_nn_context *output_ctx,
                                          const cmsis_nn_svdf_params *params,
                                          const cmsis_nn_per_tensor_quant_params *input_quant,
                                          const cmsis_nn_per_tensor_quant_params *output_quant,
                                          const cmsis_nn_dims *input_dims, const int8_t *input,
                                          const cmsis_nn_dims *state_dims, int16_t *state,
                                          const cmsis_nn_dims *features_dims, const int8_t *features,
                                          const cmsis_nn_dims *times_dims, const int16_t *times,
                                          const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                          const cmsis_nn_dims *output_dims, int8_t *output) {
  const dmo_svdf_size size = { input_dims->n, input_dims->h, features_dims->n, params->rank, times_dims->h };
  // The interface passes the zero point of the input, and not what is added.
  const dmo_svdf_params kernel = {
    -params->input_offset,
    0,
    params->output_offset,
    { input_quant->multiplier, input_quant->shift },
    { output_quant->multiplier, output_quant->shift },
  };
  const int32_t sums = 4 * size.batches * size.filters;
  (void)state_dims;
  (void)bias_dims;
  if (params->input_activation.max != INT16_MAX || params->output_activation.max != INT8_MAX ||
      use(output_ctx, 4 * output_dims->n * output_dims->h) != ARM_CMSIS_NN_SUCCESS || input_ctx->size != 0 ||
      (int8_t *)input_ctx->buf + sums != (int8_t *)output_ctx->buf) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  dmo_svdf_s8_state_s16(&kernel, &size, input, features, times, bias, state, output, (int32_t *)input_ctx->buf);
  return ARM_CMSIS_NN_SUCCESS;
}
