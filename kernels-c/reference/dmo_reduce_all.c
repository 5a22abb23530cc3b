// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_reduce_axes.h"
#include "dmo_reduce_loop.h"

void dmo_reduce_all(const dmo_shape *input_shape, const bool *input, const dmo_shape *output_shape, bool *output) {
  DMO_REDUCE(output, true, bool, x & sum);
}
