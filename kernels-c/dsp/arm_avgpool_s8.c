// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_pool.h"

static int32_t average(const cmsis_nn_pool_params *params, int32_t sum, int32_t count) {
  const int32_t half = sum > 0 ? count / 2 : -(count / 2);
  return dmo_clamp((sum + half) / count, params->activation.min, params->activation.max);
}

// Four channels from c. Sums of up to 256 bytes fit in 16 bit.
enum { MOST_IN_16_BIT = 256 };

DSP_INLINE uint32_t window_average_4(const cmsis_nn_pool_params *params, const dsp_window *window, int32_t c) {
  const int32_t count = window->rows * window->columns;
  uint32_t even = 0, odd = 0;
  const int8_t *row = window->input + c;
  for (int32_t y = window->rows; y != 0; --y) {
    const int8_t *at = row;
    for (int32_t x = window->columns; x != 0; --x) {
      const uint32_t four = dsp_load4(at);
      even = dsp_add_even(even, four);
      odd = dsp_add_odd(odd, four);
      at += window->channels;
    }
    row += window->line;
  }
  return dsp_pack4(average(params, dsp_low(even), count), average(params, dsp_low(odd), count),
                   average(params, dsp_high(even), count), average(params, dsp_high(odd), count));
}

static int32_t window_average(const cmsis_nn_pool_params *params, const dsp_window *window, int32_t c) {
  int32_t sum = 0;
  for (int32_t y = 0; y < window->rows; ++y) {
    const int8_t *at = window->input + y * window->line + c;
    for (int32_t x = 0; x < window->columns; ++x) {
      sum += at[x * window->channels];
    }
  }
  return average(params, sum, window->rows * window->columns);
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
        const dsp_window window = dsp_pool_window(pool_params, input_dims, batch, filter_dims, oy, ox);
        if (window.rows == 0) {
          return ARM_CMSIS_NN_ARG_ERROR;
        }
        int32_t c = 0;
        if (window.rows * window.columns <= MOST_IN_16_BIT) {
          for (; c + 4 <= channels; c += 4) {
            dsp_store4(&output_data[c], window_average_4(pool_params, &window, c));
          }
        }
        for (; c < channels; ++c) {
          output_data[c] = (int8_t)window_average(pool_params, &window, c);
        }
        output_data += channels;
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
