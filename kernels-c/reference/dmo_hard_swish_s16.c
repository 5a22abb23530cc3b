// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

void dmo_hard_swish_s16(const dmo_hard_swish_s16_params *params, int32_t count, const int16_t *input,
                        int16_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t slope = dmo_requantize(input[i], params->ramp.multiplier, params->ramp.shift);
    const int32_t ramp = dmo_clamp(slope + 16384, 0, 32768);
    const int32_t result = dmo_requantize(input[i] * ramp, params->output.multiplier, params->output.shift);
    output[i] = (int16_t)dmo_clamp(result, INT16_MIN, INT16_MAX);
  }
}
