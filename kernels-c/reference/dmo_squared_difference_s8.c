// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

static int8_t squared_difference(const dmo_add_params *params, int32_t value1, int32_t value2) {
  const int32_t unit = INT32_C(1) << DMO_SQUARED_DIFFERENCE_LEFT_SHIFT;
  const int32_t scaled1 = dmo_requantize(value1 * unit, params->input1.multiplier, params->input1.shift);
  const int32_t scaled2 = dmo_requantize(value2 * unit, params->input2.multiplier, params->input2.shift);
  const int32_t difference = scaled1 - scaled2;
  const int32_t square = dmo_requantize(difference * difference, params->output.multiplier, params->output.shift);
  return (int8_t)dmo_clamp(square + params->output_offset, params->activation_min, params->activation_max);
}

void dmo_squared_difference_s8(const dmo_add_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                               const dmo_shape *input2_shape, const int8_t *input2,
                               const dmo_shape *output_shape, int8_t *output) {
  DMO_BROADCAST(int32_t, int32_t, squared_difference(params, a + params->input1_offset, b + params->input2_offset));
}
