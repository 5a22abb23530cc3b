// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast_loop.h"
#include "dmo_choice.h"
#include "dmo_holds.h"

static bool holds(const dmo_compare_params *params, int32_t value1, int32_t value2) {
  const int32_t unit = INT32_C(1) << DMO_COMPARE_LEFT_SHIFT;
  const int32_t scaled1 = dmo_requantize(value1 * unit, params->input1.multiplier, params->input1.shift);
  const int32_t scaled2 = dmo_requantize(value2 * unit, params->input2.multiplier, params->input2.shift);
  return DMO_HOLDS(params->relation, scaled1, scaled2);
}

void dmo_compare_s8(const dmo_compare_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                    const dmo_shape *input2_shape, const int8_t *input2,
                    const dmo_shape *output_shape, bool *output) {
  DMO_BROADCAST(int32_t, int32_t, holds(params, a + params->input1_offset, b + params->input2_offset));
}
