// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast_loop.h"
#include "dmo_int16.h"

static int16_t sum(const dmo_add_params *params, int32_t value1, int32_t value2) {
  const int32_t unit = INT32_C(1) << DMO_ADD_LEFT_SHIFT_S16;
  const int32_t scaled1 = dmo_requantize(value1 * unit, params->input1.multiplier, params->input1.shift);
  const int32_t scaled2 = dmo_requantize(value2 * unit, params->input2.multiplier, params->input2.shift);
  const int32_t result = dmo_requantize(scaled1 + scaled2, params->output.multiplier, params->output.shift);
  return (int16_t)dmo_clamp(result, params->activation_min, params->activation_max);
}

void dmo_broadcast_add_s16(const dmo_add_params *params, const dmo_shape *input1_shape, const int16_t *input1,
                           const dmo_shape *input2_shape, const int16_t *input2,
                           const dmo_shape *output_shape, int16_t *output) {
  DMO_BROADCAST(int32_t, int32_t, sum(params, a, b));
}
