// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

#include <math.h>

static float remainder_of(float dividend, float divisor) {
  const float truncated = fmodf(dividend, divisor);
  return truncated != 0.0f && (divisor < 0.0f) != (truncated < 0.0f) ? truncated + divisor : truncated;
}

void dmo_floor_mod_f32(const dmo_shape *input1_shape, const float *input1,
                       const dmo_shape *input2_shape, const float *input2,
                       const dmo_shape *output_shape, float *output) {
  DMO_BROADCAST(float, float, remainder_of(a, b));
}
