// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain.h"

// Of numbers in [-255, 255] and in [-128, 127].
static const int32_t largest_product = 255 * 128;

plain_output plain_make_output(int32_t offset, int32_t min, int32_t max, int32_t channels, const int32_t *multiplier,
                               const int32_t *shift, int32_t step, const int32_t *bias, int32_t products) {
  plain_output result = {
    .offset = offset,
    .min = min,
    .max = max,
    .multiplier = multiplier,
    .shift = shift,
    .step = step,
    .is_fast = products <= PLAIN_LARGEST_SUM / largest_product,
  };
  if (!result.is_fast) {
    return result;
  }
  const int32_t largest_bias = PLAIN_LARGEST_SUM - largest_product * products;
  for (int32_t c = 0; c < channels; ++c, multiplier += step, shift += step) {
    const bool is_small = bias == NULL || (bias[c] >= -largest_bias && bias[c] <= largest_bias);
    if (is_small && plain_is_fast(*multiplier, *shift)) {
      continue;
    }
    if (result.exact_count == PLAIN_MOST_EXACT) {
      result.exact_count = 0;
      result.is_fast = false;
      break;
    }
    result.exact[result.exact_count++] = c;
  }
  return result;
}

PLAIN_OUT_OF_LINE int32_t plain_requantize_any(int32_t sum, int32_t multiplier, int32_t shift) {
  return dmo_requantize(sum, multiplier, shift);
}
