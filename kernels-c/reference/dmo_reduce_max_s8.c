// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_reduce_axes.h"
#include "dmo_reduce_loop.h"

void dmo_reduce_max_s8(const dmo_shape *input_shape, const int8_t *input, const dmo_shape *output_shape, int8_t *output) {
  DMO_REDUCE(output, INT8_MIN, int8_t, x > sum ? x : sum);
}
