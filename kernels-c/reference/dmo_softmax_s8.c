// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_softmax_row.h"

void dmo_softmax_s8(const dmo_softmax_params *params, int32_t rows, int32_t depth, const int8_t *input,
                    int8_t *output) {
  for (int32_t r = 0; r < rows; ++r) {
    const int8_t *in = &input[r * depth];
    int8_t *out = &output[r * depth];
    const int32_t max = dmo_softmax_max_s8(depth, in);
    const dmo_softmax_divisor divisor = dmo_softmax_divisor_of(dmo_softmax_sum_s8(params, max, depth, in));
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t ratio = dmo_softmax_ratio(params, in[i] - max, &divisor, 8);
      out[i] = (int8_t)dmo_clamp(ratio + INT8_MIN, INT8_MIN, INT8_MAX);
    }
  }
}
