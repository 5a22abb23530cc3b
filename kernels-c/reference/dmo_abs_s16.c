// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_map.h"
#include "dmo_unary.h"

static int16_t magnitude(const dmo_requantize_params *params, int32_t value) {
  const int32_t scaled = dmo_requantize(value < 0 ? -value : value, params->output.multiplier, params->output.shift);
  return (int16_t)dmo_clamp(scaled + params->output_offset, INT16_MIN, INT16_MAX);
}

void dmo_abs_s16(const dmo_requantize_params *params, int32_t count, const int16_t *input, int16_t *output) {
  DMO_MAP(int32_t, magnitude(params, x + params->input_offset));
}
