// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

void dmo_maximum_s16(const dmo_shape *input1_shape, const int16_t *input1,
                     const dmo_shape *input2_shape, const int16_t *input2,
                     const dmo_shape *output_shape, int16_t *output) {
  DMO_BROADCAST(int16_t, int16_t, a > b ? a : b);
}
