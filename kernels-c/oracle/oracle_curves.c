// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle_operators.h"

#include <math.h>

int64_t oracle_quantize(const dmo_affine_params *params, float value) {
  // The quotient is a float: what lies within its rounding of a half must round as the float does.
  const double quotient = (double)(float)((double)value / (double)params->scale);
  const double magnitude = floor(fabs(quotient) + 0.5);
  return (int64_t)(quotient < 0.0 ? -magnitude : magnitude) + params->zero_point;
}

int64_t oracle_requantize_offset(const dmo_requantize_params *params, int32_t value) {
  return oracle_requantize((int64_t)value + params->input_offset, params->output.multiplier, params->output.shift) +
         params->output_offset;
}

double oracle_logistic(double x) {
  return 0.5 + 0.5 * tanh(0.5 * x);
}

double oracle_hard_swish(double x) {
  return x <= -3.0 ? 0.0 : x >= 3.0 ? x : x * (x + 3.0) / 6.0;
}

// a * b / 2^15, halves up.
static int64_t high_product(int64_t a, int64_t b) {
  return oracle_clamp(oracle_divide_down(a * b + 16384, 32768), -32768, 32767);
}

int32_t oracle_hard_swish_s8(const dmo_hard_swish_params *params, const int8_t *input, int32_t index) {
  const int64_t value = ((int64_t)input[index] + params->input_offset) * 128;
  const int32_t shift = params->saturation_shift;
  int64_t ramp;
  if (shift > 0) {
    const int64_t shifted = oracle_clamp(value * (INT64_C(1) << (shift - 1)), -32768, 32767);
    ramp = oracle_clamp(2 * high_product(shifted, params->saturation_multiplier), -32768, 32767);
  } else {
    ramp = oracle_divide_rounding(high_product(value, params->saturation_multiplier), INT64_C(1) << -shift);
  }
  const int64_t product = oracle_divide_down(ramp + 32768, 2) * high_product(value, params->output_multiplier);
  const int64_t high = product < 0 ? -(-product / 32768) : product / 32768;
  const int64_t result = oracle_divide_rounding(high, INT64_C(1) << -params->output_shift) + params->output_offset;
  return (int32_t)oracle_clamp(result, -128, 127);
}

int32_t oracle_hard_swish_s16(const dmo_hard_swish_s16_params *params, const int16_t *input, int32_t index) {
  const int64_t slope = oracle_requantize(input[index], params->ramp.multiplier, params->ramp.shift);
  const int64_t product = input[index] * oracle_clamp(slope + 16384, 0, 32768);
  const int64_t result = oracle_requantize(product, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(result, -32768, 32767);
}

int64_t oracle_leaky_relu(const dmo_leaky_relu_params *params, int64_t value) {
  const dmo_quant_per_tensor *ratio = value < 0 ? &params->negative : &params->positive;
  const int64_t result = oracle_requantize(value, ratio->multiplier, ratio->shift);
  return params->output_offset + (value < 0 && params->sign < 0 ? -result : result);
}
