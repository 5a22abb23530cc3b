// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

void dmo_requantize_s8_u8(const dmo_requantize_params *params, int32_t count, const int8_t *input, uint8_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = dmo_requantize(input[i] + params->input_offset, params->output.multiplier,
                                         params->output.shift) + params->output_offset;
    output[i] = (uint8_t)dmo_clamp(value, 0, UINT8_MAX);
  }
}
