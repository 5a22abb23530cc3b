// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_lstm.h"
#include "dsp_wide.h"

void dsp_multiply_few_s16(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first, int32_t end, bool adds,
                          int16_t *values) {
  const int64_t *const bias = matrix->bias;
  const dsp_scales scales = dsp_make_scales(&matrix->multiplier, &matrix->shift, bias, INT16_MIN, INT16_MAX);
  const dsp_wide_channel channel = dsp_make_wide(&scales);
  const int32_t columns = matrix->columns;
  const int8_t *weights = &matrix->weights[first * columns];
  for (int32_t row = first; row < end; ++row) {
    int32_t sum = (int32_t)bias[row];
    for (int32_t i = 0; i < columns; ++i) {
      sum += vector[i] * *weights++;
    }
    const int32_t product = dsp_requantize_fast(channel, sum);
    values[row] = (int16_t)dsp_saturate_half(adds ? product + values[row] : product);
  }
}
