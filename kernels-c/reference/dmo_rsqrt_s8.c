// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_inverse_sqrt.h"
#include "dmo_map.h"
#include "dmo_unary.h"

enum { FRACTION_BITS = 20 };

static int8_t inverse_root(const dmo_requantize_params *params, int32_t value) {
  if (value <= 0) {
    return INT8_MAX;
  }
  const dmo_quant_per_tensor root = dmo_inverse_sqrt(value);
  const int32_t fine = dmo_requantize(1, root.multiplier, root.shift + FRACTION_BITS);
  const int32_t scaled = dmo_requantize(fine, params->output.multiplier, params->output.shift - FRACTION_BITS);
  return (int8_t)dmo_clamp(scaled + params->output_offset, INT8_MIN, INT8_MAX);
}

void dmo_rsqrt_s8(const dmo_requantize_params *params, int32_t count, const int8_t *input, int8_t *output) {
  DMO_MAP(int32_t, inverse_root(params, x + params->input_offset));
}
