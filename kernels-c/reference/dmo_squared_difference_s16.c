// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

static int16_t squared_difference(const dmo_add_params *params, int32_t value1, int32_t value2) {
  const int32_t scaled1 = dmo_requantize(value1, params->input1.multiplier, params->input1.shift);
  const int32_t scaled2 = dmo_requantize(value2, params->input2.multiplier, params->input2.shift);
  const int32_t difference = scaled1 - scaled2;
  const int32_t square = dmo_requantize(difference * difference, params->output.multiplier, params->output.shift);
  return (int16_t)dmo_clamp(square + params->output_offset, params->activation_min, params->activation_max);
}

void dmo_squared_difference_s16(const dmo_add_params *params, const dmo_shape *input1_shape, const int16_t *input1,
                                const dmo_shape *input2_shape, const int16_t *input2,
                                const dmo_shape *output_shape, int16_t *output) {
  DMO_BROADCAST(int32_t, int32_t, squared_difference(params, a + params->input1_offset, b + params->input2_offset));
}
