// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_pool_s16.h"

// Blocks of four channels, of which the outputs are clamped to a pair of limits.
DSP_OUT_OF_LINE static void maximum_of_four(const dsp_pool_window_s16 *window, int32_t blocks, uint32_t least,
                                            uint32_t most, int16_t *output) {
  const dsp_pool_window_s16 w = *window;
  const int16_t *first = w.input;
  for (; blocks != 0; --blocks) {
    const int16_t *from = first;
    uint32_t low = least, high = least;
    for (int32_t rows = w.rows; rows != 0; --rows) {
      int32_t columns = w.columns;
      do {
        low = dsp_max_pair(low, dsp_load_pair(from));
        high = dsp_max_pair(high, dsp_load_pair(from + 2));
        from += w.column_step;
      } while (--columns != 0);
      from += w.row_step;
    }
    dsp_store_pair(output, dsp_min_pair(low, most));
    dsp_store_pair(output + 2, dsp_min_pair(high, most));
    output += 4;
    first += 4;
  }
}

static int32_t maximum_of_one(const dsp_pool_window_s16 *w, int32_t channel) {
  const int16_t *from = w->input + channel;
  int32_t max = INT16_MIN;
  for (int32_t rows = w->rows; rows != 0; --rows) {
    for (int32_t columns = w->columns; columns != 0; --columns) {
      max = *from > max ? *from : max;
      from += w->column_step;
    }
    from += w->row_step;
  }
  return max;
}

DSP_INLINE void store_maxima(const dsp_pool_window_s16 *window, int32_t channels, int32_t min, int32_t max,
                         int16_t *output) {
  maximum_of_four(window, channels / 4, dsp_pair(min, min), dsp_pair(max, max), output);
  for (int32_t c = channels & ~3; c < channels; ++c) {
    output[c] = (int16_t)dmo_clamp(maximum_of_one(window, c), min, max);
  }
}

arm_cmsis_nn_status arm_max_pool_s16(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                     const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                     const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                     int16_t *output_data) {
  (void)ctx;
  return dsp_pool_s16(pool_params, input_dims, input_data, filter_dims, output_dims, output_data, store_maxima);
}
