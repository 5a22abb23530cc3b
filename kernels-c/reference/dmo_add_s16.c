// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_int16.h"

void dmo_add_s16(const dmo_add_params *params, int32_t count, const int16_t *input1, const int16_t *input2,
                 int16_t *output) {
  const int32_t unit = INT32_C(1) << DMO_ADD_LEFT_SHIFT_S16;

  for (int32_t i = 0; i < count; ++i) {
    const int32_t value1 = input1[i] * unit;
    const int32_t value2 = input2[i] * unit;
    const int32_t scaled1 = dmo_requantize(value1, params->input1.multiplier, params->input1.shift);
    const int32_t scaled2 = dmo_requantize(value2, params->input2.multiplier, params->input2.shift);
    const int32_t sum = dmo_requantize(scaled1 + scaled2, params->output.multiplier, params->output.shift);
    output[i] = (int16_t)dmo_clamp(sum, params->activation_min, params->activation_max);
  }
}
