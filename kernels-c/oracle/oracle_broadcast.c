// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle_operators.h"

int64_t oracle_broadcast_source(const dmo_shape *input_shape, const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  return oracle_index(input_shape, at.n % input_shape->n, at.h % input_shape->h, at.w % input_shape->w,
                      at.c % input_shape->c);
}

int32_t oracle_sub_s8(const dmo_add_params *params, int8_t value1, int8_t value2) {
  const int64_t unit = INT64_C(1) << DMO_ADD_LEFT_SHIFT;
  const int64_t difference =
      oracle_requantize((value1 + params->input1_offset) * unit, params->input1.multiplier, params->input1.shift) -
      oracle_requantize((value2 + params->input2_offset) * unit, params->input2.multiplier, params->input2.shift);
  const int64_t value = oracle_requantize(difference, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(value + params->output_offset, params->activation_min, params->activation_max);
}
