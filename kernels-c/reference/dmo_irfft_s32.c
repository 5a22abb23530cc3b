// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_fft_s32.h"

void dmo_irfft_s32(const dmo_fft_size *size, const int32_t *radices, const int32_t *turns, const int32_t *half_turns,
                   const int32_t *input, int32_t *output, int32_t *scratch) {
  fft_backward(size, radices, (const fft_complex *)turns, (const fft_complex *)half_turns, (const fft_complex *)input,
               (fft_complex *)output, (fft_complex *)scratch);
}
