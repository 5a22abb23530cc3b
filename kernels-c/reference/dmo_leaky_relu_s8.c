// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

static int32_t leaky_relu(const dmo_leaky_relu_params *params, int32_t value) {
  if (value >= 0) {
    return dmo_requantize(value, params->positive.multiplier, params->positive.shift);
  }
  return params->sign * dmo_requantize(value, params->negative.multiplier, params->negative.shift);
}

void dmo_leaky_relu_s8(const dmo_leaky_relu_params *params, int32_t count, const int8_t *input, int8_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t result = leaky_relu(params, input[i] + params->input_offset) + params->output_offset;
    output[i] = (int8_t)dmo_clamp(result, INT8_MIN, INT8_MAX);
  }
}
