// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

void dmo_broadcast_div_f32(const dmo_binary_f32_params *params, const dmo_shape *input1_shape, const float *input1,
                           const dmo_shape *input2_shape, const float *input2,
                           const dmo_shape *output_shape, float *output) {
  DMO_BROADCAST(float, float, dmo_clamp_f32(a / b, params->activation_min, params->activation_max));
}
