// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp.h"

#include <stddef.h>

int32_t dsp_count_exact(const dsp_range *range, int32_t channels, const int32_t *multiplier, const int32_t *shift,
                        const int32_t *bias, int32_t products) {
  int32_t count = 0;
  for (int32_t c = 0; c < channels; ++c) {
    if (!dsp_is_fast(range, multiplier[c], shift[c], bias == NULL ? 0 : bias[c], products)) {
      ++count;
    }
  }
  return count;
}

dsp_way dsp_choose_way(const dsp_range *range, int32_t channels, const int32_t *multiplier, const int32_t *shift,
                       const int32_t *bias, int32_t products) {
  return dsp_count_exact(range, channels, multiplier, shift, bias, products) != 0 ? DSP_EXACT : dsp_fast_way(range);
}
