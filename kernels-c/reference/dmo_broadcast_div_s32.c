// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

static int32_t quotient(int32_t a, int32_t b) {
  // The quotient by -1 wraps around.
  return b == 0 ? 0 : b == -1 ? (int32_t)(0 - (uint32_t)a) : a / b;
}

void dmo_broadcast_div_s32(const dmo_binary_s32_params *params, const dmo_shape *input1_shape, const int32_t *input1,
                           const dmo_shape *input2_shape, const int32_t *input2,
                           const dmo_shape *output_shape, int32_t *output) {
  DMO_BROADCAST(int32_t, int32_t, dmo_clamp(quotient(a, b), params->activation_min, params->activation_max));
}
