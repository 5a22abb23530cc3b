// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_pool.h"

// `count` channels from c, 1 to 4.
DSP_INLINE uint32_t window_max(const dsp_window *window, int32_t c, int32_t count) {
  uint32_t max = UINT32_C(0x80808080);
  const int8_t *row = window->input + c;
  for (int32_t y = window->rows; y != 0; --y) {
    const int8_t *at = row;
    for (int32_t x = window->columns; x != 0; --x) {
      max = dsp_max4(max, count == 4 ? dsp_load4(at) : dsp_load_some(at, count));
      at += window->channels;
    }
    row += window->line;
  }
  return max;
}

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                    int8_t *output_data) {
  (void)ctx;
  const uint32_t least = UINT32_C(0x01010101) * (uint8_t)pool_params->activation.min;
  const uint32_t most = UINT32_C(0x01010101) * (uint8_t)pool_params->activation.max;
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
        for (; c + 4 <= channels; c += 4) {
          dsp_store4(&output_data[c], dsp_min4(dsp_max4(window_max(&window, c, 4), least), most));
        }
        if (c < channels) {
          const uint32_t max = window_max(&window, c, channels - c);
          dsp_store_some(&output_data[c], dsp_min4(dsp_max4(max, least), most), channels - c);
        }
        output_data += channels;
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
