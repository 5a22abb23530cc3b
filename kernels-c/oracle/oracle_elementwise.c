// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle.h"

int32_t oracle_relu_s8(const dmo_relu_params *params, const int8_t *input, int32_t index) {
  const int64_t value = (int64_t)input[index] + params->input_offset;
  const int64_t scaled = oracle_requantize(value, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(scaled + params->output_offset, params->activation_min, params->activation_max);
}

int32_t oracle_add_s8(const dmo_add_params *params, const int8_t *input1, const int8_t *input2, int32_t index) {
  const int64_t value1 = ((int64_t)input1[index] + params->input1_offset) * (INT64_C(1) << DMO_ADD_LEFT_SHIFT);
  const int64_t value2 = ((int64_t)input2[index] + params->input2_offset) * (INT64_C(1) << DMO_ADD_LEFT_SHIFT);
  const int64_t sum = oracle_requantize(value1, params->input1.multiplier, params->input1.shift) +
                      oracle_requantize(value2, params->input2.multiplier, params->input2.shift);
  const int64_t value = oracle_requantize(sum, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(value + params->output_offset, params->activation_min, params->activation_max);
}

int32_t oracle_mul_s8(const dmo_mul_params *params, const int8_t *input1, const int8_t *input2, int32_t index) {
  const int64_t product = ((int64_t)input1[index] + params->input1_offset) *
                          ((int64_t)input2[index] + params->input2_offset);
  const int64_t value = oracle_requantize(product, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(value + params->output_offset, params->activation_min, params->activation_max);
}
