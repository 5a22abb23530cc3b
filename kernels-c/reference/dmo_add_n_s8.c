// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_elementwise.h"

void dmo_add_n_s8(const dmo_add_n_params *params, int32_t input_count, int32_t count, const int8_t *const *inputs,
                  int8_t *output) {
  const int32_t half_unit = INT32_C(1) << (DMO_ADD_LEFT_SHIFT - 1);

  for (int32_t i = 0; i < count; ++i) {
    uint32_t sum = (uint32_t)(params->input_offset * half_unit);
    for (int32_t j = 0; j < input_count; ++j) {
      sum += (uint32_t)((inputs[j][i] + params->input_offset) * half_unit);
    }
    const int32_t scaled = dmo_requantize((int32_t)sum, params->output.multiplier, params->output.shift);
    output[i] = (int8_t)dmo_clamp(scaled + params->output_offset, INT8_MIN, INT8_MAX);
  }
}
