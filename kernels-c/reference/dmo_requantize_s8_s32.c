// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

void dmo_requantize_s8_s32(const dmo_requantize_params *params, int32_t count, const int8_t *input, int32_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    output[i] = dmo_requantize(input[i] + params->input_offset, params->output.multiplier,
                               params->output.shift) + params->output_offset;
  }
}
