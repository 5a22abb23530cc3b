// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_signal.h"
#include "dmo_signal_overlap_loop.h"

static float sum_of(float a, float b) {
  return a + b;
}

void dmo_signal_overlap_add_f32(const dmo_signal_overlap_size *size, const float *input, float *kept, float *output) {
  DMO_SIGNAL_OVERLAP_ADD(sum_of);
}
