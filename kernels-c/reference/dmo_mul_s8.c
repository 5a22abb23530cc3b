// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_elementwise.h"

void dmo_mul_s8(const dmo_mul_params *params, int32_t count, const int8_t *input1, const int8_t *input2,
                int8_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t product = (input1[i] + params->input1_offset) * (input2[i] + params->input2_offset);
    const int32_t value = dmo_requantize(product, params->output.multiplier, params->output.shift);
    output[i] = (int8_t)dmo_clamp(value + params->output_offset, params->activation_min, params->activation_max);
  }
}
