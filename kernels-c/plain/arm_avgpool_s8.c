// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_pool.h"

static int32_t average(const plain_pool *pool, int32_t channel) {
  const int8_t *at = pool->input + channel;
  const int32_t count = pool->rows * pool->columns;
  int32_t sum = 0;
  for (int32_t y = pool->rows; y != 0; --y) {
    for (int32_t x = pool->columns; x != 0; --x) {
      sum += *at;
      at += pool->column;
    }
    at += pool->skip;
  }
  return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

int32_t arm_avgpool_s8_get_buffer_size(const int dim_dst_width, const int ch_src) {
  (void)dim_dst_width;
  (void)ch_src;
  return 0;
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                   const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                   int8_t *output_data) {
  (void)ctx;
  const int32_t channels = input_dims->c;
  for (int32_t b = 0; b < output_dims->n; ++b) {
    const int8_t *batch = &input_data[b * input_dims->h * input_dims->w * channels];
    for (int32_t oy = 0; oy < output_dims->h; ++oy) {
      for (int32_t ox = 0; ox < output_dims->w; ++ox) {
        const plain_pool pool = plain_pool_at(pool_params, input_dims, batch, filter_dims, oy, ox);
        if (pool.rows == 0) {
          return ARM_CMSIS_NN_ARG_ERROR;
        }
        for (int32_t c = 0; c < channels; ++c) {
          *output_data++ = (int8_t)dmo_clamp(average(&pool, c), pool_params->activation.min,
                                             pool_params->activation.max);
        }
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
