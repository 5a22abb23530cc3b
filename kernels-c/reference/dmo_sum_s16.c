// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_reduce_axes.h"
#include "dmo_reduce_loop.h"

int32_t dmo_sum_s16_scratch_bytes(const dmo_shape *output_shape) {
  return dmo_shape_size(output_shape) * (int32_t)sizeof(int32_t);
}

void dmo_sum_s16(const dmo_mean_params *params, const dmo_shape *input_shape, const int16_t *input,
                 const dmo_shape *output_shape, int16_t *output, int32_t *scratch) {
  DMO_REDUCE(scratch, 0, int32_t, sum + x - params->input_zero_point);
  for (int32_t i = 0; i < dmo_shape_size(output_shape); ++i) {
    const int32_t scaled = dmo_requantize(scratch[i], params->output.multiplier, params->output.shift);
    output[i] = (int16_t)dmo_clamp(scaled + params->output_zero_point, INT16_MIN, INT16_MAX);
  }
}
