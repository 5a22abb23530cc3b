// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast_loop.h"
#include "dmo_int16.h"

static int16_t product(const dmo_mul_params *params, int32_t value1, int32_t value2) {
  const int32_t scaled = dmo_requantize(value1 * value2, params->output.multiplier, params->output.shift);
  return (int16_t)dmo_clamp(scaled, params->activation_min, params->activation_max);
}

void dmo_broadcast_mul_s16(const dmo_mul_params *params, const dmo_shape *input1_shape, const int16_t *input1,
                           const dmo_shape *input2_shape, const int16_t *input2,
                           const dmo_shape *output_shape, int16_t *output) {
  DMO_BROADCAST(int32_t, int32_t, product(params, a, b));
}
