// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

#include <math.h>

void dmo_floor_div_f32(const dmo_shape *input1_shape, const float *input1,
                       const dmo_shape *input2_shape, const float *input2,
                       const dmo_shape *output_shape, float *output) {
  DMO_BROADCAST(double, double, (float)floor(a / b));
}
