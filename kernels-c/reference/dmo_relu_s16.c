// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_int16.h"

void dmo_relu_s16(const dmo_relu_params *params, int32_t count, const int16_t *input, int16_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = dmo_requantize(input[i], params->output.multiplier, params->output.shift);
    output[i] = (int16_t)dmo_clamp(value, params->activation_min, params->activation_max);
  }
}
