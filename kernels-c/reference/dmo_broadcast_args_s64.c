// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast_args_loop.h"
#include "dmo_extents.h"

void dmo_broadcast_args_s64(const dmo_broadcast_args_size *size, const int64_t *input1, const int64_t *input2,
                            int64_t *output) {
  DMO_BROADCAST_ARGS();
}
