// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_reduce_axes.h"

int32_t dmo_sum_s8_scratch_bytes(const dmo_shape *output_shape) {
  return dmo_shape_size(output_shape) * (int32_t)sizeof(int32_t);
}

void dmo_sum_s8(const dmo_mean_params *params, const dmo_shape *input_shape, const int8_t *input,
                const dmo_shape *output_shape, int8_t *output, int32_t *scratch) {
  const int32_t output_size = dmo_shape_size(output_shape);

  for (int32_t i = 0; i < output_size; ++i) {
    scratch[i] = 0;
  }
  for (int32_t n = 0; n < input_shape->n; ++n) {
    for (int32_t h = 0; h < input_shape->h; ++h) {
      for (int32_t w = 0; w < input_shape->w; ++w) {
        for (int32_t c = 0; c < input_shape->c; ++c) {
          // An axis of extent 1 in the output has the one coordinate 0.
          const int32_t sum = dmo_offset(output_shape, n % output_shape->n, h % output_shape->h, w % output_shape->w,
                                         c % output_shape->c);
          scratch[sum] += input[dmo_offset(input_shape, n, h, w, c)] - params->input_zero_point;
        }
      }
    }
  }
  for (int32_t i = 0; i < output_size; ++i) {
    const int32_t sum = dmo_requantize(scratch[i], params->output.multiplier, params->output.shift);
    output[i] = (int8_t)dmo_clamp(sum + params->output_zero_point, INT8_MIN, INT8_MAX);
  }
}
