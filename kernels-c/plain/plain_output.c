// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain.h"

plain_output plain_make_output(int32_t offset, int32_t min, int32_t max, int32_t channels, const int32_t *multiplier,
                               const int32_t *shift, int32_t step, const int32_t *bias, int32_t products) {
  const int32_t largest_product = 255 * 128;
  const int32_t most_products = PLAIN_LARGEST_SUM / largest_product;
  plain_output result = { .offset = offset, .min = min, .max = max, .multiplier = multiplier, .shift = shift, .step = step,
                          .is_fast = products <= most_products };
  for (int32_t c = 0; c < channels && result.is_fast; ++c) {
    const int32_t largest_bias = PLAIN_LARGEST_SUM - largest_product * products;
    const int32_t channel_bias = bias == NULL ? 0 : bias[c];
    if (plain_is_fast(multiplier[c * step], shift[c * step]) && channel_bias >= -largest_bias &&
        channel_bias <= largest_bias) {
      continue;
    }
    if (result.exact_count == PLAIN_MOST_EXACT) {
      result.exact_count = 0;
      result.is_fast = false;
    } else {
      result.exact[result.exact_count++] = c;
    }
  }
  return result;
}

PLAIN_OUT_OF_LINE int32_t plain_requantize_any(int32_t sum, int32_t multiplier, int32_t shift) {
  return dmo_requantize(sum, multiplier, shift);
}
