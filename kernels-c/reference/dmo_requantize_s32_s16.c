// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

void dmo_requantize_s32_s16(const dmo_requantize_params *params, int32_t count, const int32_t *input, int16_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t offset = (int32_t)((uint32_t)input[i] + (uint32_t)params->input_offset);
    const int32_t value =
        dmo_requantize(offset, params->output.multiplier, params->output.shift) + params->output_offset;
    output[i] = (int16_t)dmo_clamp(value, INT16_MIN, INT16_MAX);
  }
}
