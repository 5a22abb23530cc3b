// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_pool_s16.h"

int32_t arm_avgpool_s16_get_buffer_size(const int dim_dst_width, const int ch_src) {
  (void)dim_dst_width;
  (void)ch_src;
  return 0;
}

DSP_INLINE int32_t average(int32_t sum, int32_t count, int32_t min, int32_t max) {
  const int32_t half = sum > 0 ? count / 2 : -(count / 2);
  return dmo_clamp((sum + half) / count, min, max);
}

// Blocks of four channels.
DSP_OUT_OF_LINE static void average_of_four(const dsp_pool_window_s16 *window, int32_t blocks, int32_t min,
                                            int32_t max, int16_t *output) {
  const dsp_pool_window_s16 w = *window;
  const int32_t count = w.rows * w.columns;
  const int16_t *first = w.input;
  for (; blocks != 0; --blocks) {
    const int16_t *from = first;
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (int32_t rows = w.rows; rows != 0; --rows) {
      int32_t columns = w.columns;
      do {
        const uint32_t low = dsp_load_pair(from), high = dsp_load_pair(from + 2);
        sum0 += dsp_low(low);
        sum1 += dsp_high(low);
        sum2 += dsp_low(high);
        sum3 += dsp_high(high);
        from += w.column_step;
      } while (--columns != 0);
      from += w.row_step;
    }
    dsp_store_pair(output, dsp_pair(average(sum0, count, min, max), average(sum1, count, min, max)));
    dsp_store_pair(output + 2, dsp_pair(average(sum2, count, min, max), average(sum3, count, min, max)));
    output += 4;
    first += 4;
  }
}

static int32_t sum_of_one(const dsp_pool_window_s16 *w, int32_t channel) {
  const int16_t *from = w->input + channel;
  int32_t sum = 0;
  for (int32_t rows = w->rows; rows != 0; --rows) {
    for (int32_t columns = w->columns; columns != 0; --columns) {
      sum += *from;
      from += w->column_step;
    }
    from += w->row_step;
  }
  return sum;
}

DSP_INLINE void store_averages(const dsp_pool_window_s16 *window, int32_t channels, int32_t min, int32_t max,
                           int16_t *output) {
  average_of_four(window, channels / 4, min, max, output);
  for (int32_t c = channels & ~3; c < channels; ++c) {
    output[c] = (int16_t)average(sum_of_one(window, c), window->rows * window->columns, min, max);
  }
}

arm_cmsis_nn_status arm_avgpool_s16(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                    const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                    int16_t *output_data) {
  (void)ctx;
  return dsp_pool_s16(pool_params, input_dims, input_data, filter_dims, output_dims, output_data, store_averages);
}
