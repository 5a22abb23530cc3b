// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"

void dmo_signal_subtract_noise(const dmo_signal_noise *params, int32_t channels, const uint32_t *input, uint32_t *kept,
                               uint32_t *output, uint32_t *noise) {
  for (int32_t c = 0; c < channels; ++c) {
    const uint32_t x = input[c], signal = x << params->smoothing_bits;
    const uint64_t heard = (uint64_t)signal * params->smoothing[c & 1];
    const uint64_t known = (uint64_t)kept[c] * params->one_minus_smoothing[c & 1];
    const uint32_t estimate = (uint32_t)((heard + known) >> params->bits);
    const uint32_t removed = estimate < signal ? estimate : signal;
    kept[c] = params->clamping != 0 ? removed : estimate;
    const uint32_t least = (uint32_t)(((uint64_t)x * params->min_signal_remaining) >> params->bits);
    const uint32_t rest = (signal - removed) >> params->smoothing_bits;
    output[c] = rest > least ? rest : least;
  }
  for (int32_t c = 0; c < channels; ++c) {
    noise[c] = kept[c];
  }
}
