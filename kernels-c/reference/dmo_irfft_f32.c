// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_fft_f32.h"

void dmo_irfft_f32(const dmo_fft_size *size, const int32_t *radices, const float *turns, const float *half_turns,
                   const float *input, float *output, float *scratch) {
  fft_backward(size, radices, (const fft_complex *)turns, (const fft_complex *)half_turns, (const fft_complex *)input,
               (fft_complex *)output, (fft_complex *)scratch);
  const float points = (float)(2 * size->half);
  for (int32_t i = 0; i < 2 * size->half * size->rows; ++i) {
    output[i] /= points;
  }
}
