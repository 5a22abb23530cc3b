// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

void dmo_broadcast_add_s32(const dmo_binary_s32_params *params, const dmo_shape *input1_shape, const int32_t *input1,
                           const dmo_shape *input2_shape, const int32_t *input2,
                           const dmo_shape *output_shape, int32_t *output) {
  DMO_BROADCAST(int32_t, int32_t,
                dmo_clamp((int32_t)((uint32_t)a + (uint32_t)b), params->activation_min, params->activation_max));
}
