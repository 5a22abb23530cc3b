// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_wide.h"

int32_t dsp_requantize_wide_exactly(int64_t sum, int32_t multiplier, int32_t shift) {
  return dmo_requantize_wide(sum, multiplier, shift);
}

bool dsp_are_fast(const dsp_scales *scales, int32_t channels, bool is_one_scale, int32_t products) {
  if (products > DSP_WIDE_PRODUCTS) {
    return false;
  }
  const uint32_t most = (UINT32_C(1) << 31) - 1 - ((uint32_t)products << 22);
  const int64_t *bias = scales->bias;
  const int32_t *shift = scales->shift;
  bool are_fast = true;
  for (int32_t c = channels; c > 0; --c) {
    const uint32_t low = (uint32_t)(uint64_t)*bias;
    are_fast &= (int32_t)low == *bias && low + most <= 2 * most && *shift <= -2;
    bias += scales->bias_step;
    shift += is_one_scale ? 0 : 1;
  }
  return are_fast;
}
