// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_int16.h"

void dmo_mul_s16(const dmo_mul_params *params, int32_t count, const int16_t *input1, const int16_t *input2,
                 int16_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t product = input1[i] * input2[i];
    const int32_t value = dmo_requantize(product, params->output.multiplier, params->output.shift);
    output[i] = (int16_t)dmo_clamp(value, params->activation_min, params->activation_max);
  }
}
