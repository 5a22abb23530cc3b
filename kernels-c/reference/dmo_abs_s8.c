// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_map.h"
#include "dmo_unary.h"

static int8_t magnitude(const dmo_requantize_params *params, int32_t value) {
  const int32_t scaled = dmo_requantize(value < 0 ? -value : value, params->output.multiplier, params->output.shift);
  return (int8_t)dmo_clamp(scaled + params->output_offset, INT8_MIN, INT8_MAX);
}

void dmo_abs_s8(const dmo_requantize_params *params, int32_t count, const int8_t *input, int8_t *output) {
  DMO_MAP(int32_t, magnitude(params, x + params->input_offset));
}
