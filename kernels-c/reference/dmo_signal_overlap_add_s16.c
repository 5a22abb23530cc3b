// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"
#include "dmo_signal_overlap_loop.h"

static int16_t saturated_sum(int16_t a, int16_t b) {
  const int32_t sum = a + b;
  return (int16_t)(sum < INT16_MIN ? INT16_MIN : sum > INT16_MAX ? INT16_MAX : sum);
}

void dmo_signal_overlap_add_s16(const dmo_signal_overlap_size *size, const int16_t *input, int16_t *kept, int16_t *output) {
  DMO_SIGNAL_OVERLAP_ADD(saturated_sum);
}
