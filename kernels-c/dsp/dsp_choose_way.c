// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp.h"

#include <stddef.h>

dsp_way dsp_choose_way(const dsp_range *range, int32_t channels, const int32_t *multiplier, const int32_t *shift,
                       const int32_t *bias, int32_t products) {
  const int32_t largest_product = 255 * 128;
  const int32_t largest_sum = (1 << 30) - 1;
  if (products > largest_sum / largest_product) {
    return DSP_EXACT;
  }
  const int32_t largest_bias = largest_sum - largest_product * products;
  for (int32_t c = 0; c < channels; ++c) {
    const bool fits = shift[c] >= DSP_LEAST_SHIFT && shift[c] < 0 && multiplier[c] >= 0 &&
                      (bias == NULL || (bias[c] >= -largest_bias && bias[c] <= largest_bias));
    if (!fits) {
      return DSP_EXACT;
    }
  }
  return range->min == -128 && range->max == 127 ? DSP_SATURATE : DSP_CLAMP;
}
