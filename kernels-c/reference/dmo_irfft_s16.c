// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_fft_s16.h"

void dmo_irfft_s16(const dmo_fft_size *size, const int32_t *radices, const int16_t *turns, const int16_t *half_turns,
                   const int16_t *input, int16_t *output, int16_t *scratch) {
  fft_backward(size, radices, (const fft_complex *)turns, (const fft_complex *)half_turns, (const fft_complex *)input,
               (fft_complex *)output, (fft_complex *)scratch);
}
