// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_fft_f32.h"

int32_t dmo_fft_f32_scratch_bytes(const dmo_fft_size *size) {
  return size->half * (int32_t)sizeof(fft_complex);
}

void dmo_rfft_f32(const dmo_fft_size *size, const int32_t *radices, const float *turns, const float *half_turns,
                  const float *input, float *output, float *scratch) {
  fft_forward(size, radices, (const fft_complex *)turns, (const fft_complex *)half_turns, input, (fft_complex *)output,
              (fft_complex *)scratch);
}
