// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_fft_s16.h"

int32_t dmo_fft_s16_scratch_bytes(const dmo_fft_size *size) {
  return size->half * (int32_t)sizeof(fft_complex);
}

void dmo_rfft_s16(const dmo_fft_size *size, const int32_t *radices, const int16_t *turns, const int16_t *half_turns,
                  const int16_t *input, int16_t *output, int16_t *scratch) {
  fft_forward(size, radices, (const fft_complex *)turns, (const fft_complex *)half_turns, input, (fft_complex *)output,
              (fft_complex *)scratch);
}
