// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

static int32_t saturate_s16(int32_t value) {
  return dmo_clamp(value, INT16_MIN, INT16_MAX);
}

// a * b / 2^15, rounded to nearest, halves up; both 16 bit.
static int32_t multiply_high_s16(int32_t a, int32_t b) {
  return saturate_s16((a * b + (1 << 14)) >> 15);
}

// In 1/32768: (x / 3 + 1) / 2, between 0 and 1.
static int32_t ramp(const dmo_hard_swish_params *params, int32_t value) {
  const int32_t shift = params->saturation_shift;
  if (shift > 0) {
    // All but one bit of the shift comes first, for precision; what saturates then, saturates in the end too.
    value = saturate_s16(value * (INT32_C(1) << (shift - 1)));
  }
  value = multiply_high_s16(value, params->saturation_multiplier);
  if (shift > 0) {
    value = saturate_s16(value * 2);
  }
  if (shift < 0) {
    value = dmo_divide_by_power_of_two(value, -shift);
  }
  return (value + 32768) >> 1;
}

void dmo_hard_swish_s8(const dmo_hard_swish_params *params, int32_t count, const int8_t *input, int8_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = (input[i] + params->input_offset) * 128;
    const int32_t scaled = multiply_high_s16(value, params->output_multiplier);
    const int32_t product = ramp(params, value) * scaled / 32768;
    const int32_t result = dmo_divide_by_power_of_two(product, -params->output_shift) + params->output_offset;
    output[i] = (int8_t)dmo_clamp(result, INT8_MIN, INT8_MAX);
  }
}
