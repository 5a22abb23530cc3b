// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

void dmo_minimum_s64(const dmo_shape *input1_shape, const int64_t *input1,
                     const dmo_shape *input2_shape, const int64_t *input2,
                     const dmo_shape *output_shape, int64_t *output) {
  DMO_BROADCAST(int64_t, int64_t, a < b ? a : b);
}
