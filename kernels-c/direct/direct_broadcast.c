// SPDX-License-Identifier: MIT OR Apache-2.0
#include "direct_operators.h"

int64_t direct_broadcast_source(const dmo_shape *input_shape, const dmo_shape *output_shape, int32_t index) {
  const direct_position at = direct_position_of(output_shape, index);
  return direct_index(input_shape, at.n % input_shape->n, at.h % input_shape->h, at.w % input_shape->w,
                      at.c % input_shape->c);
}

int32_t direct_sub_s8(const dmo_add_params *params, int8_t value1, int8_t value2) {
  const int64_t unit = INT64_C(1) << DMO_ADD_LEFT_SHIFT;
  const int64_t difference =
      direct_requantize((value1 + params->input1_offset) * unit, params->input1.multiplier, params->input1.shift) -
      direct_requantize((value2 + params->input2_offset) * unit, params->input2.multiplier, params->input2.shift);
  const int64_t value = direct_requantize(difference, params->output.multiplier, params->output.shift);
  return (int32_t)direct_clamp(value + params->output_offset, params->activation_min, params->activation_max);
}
