// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Numbers of 32 bits, of which 31 are after the point. What does not fit wraps.
#ifndef DMO_FFT_S32_H
#define DMO_FFT_S32_H

#include "dmo_fft.h"

typedef int32_t fft_real;

#define fft_sum(a, b) ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define fft_difference(a, b) ((int32_t)((uint32_t)(a) - (uint32_t)(b)))
#define fft_negated(a) fft_difference(0, a)
#define fft_wide(a, b) ((int64_t)(a) * (b))
#define fft_rounded(product) ((int32_t)(((product) + (1 << 30)) >> 31))
#define fft_product(a, b) fft_rounded(fft_wide(a, b))
#define fft_divided(a, radix) fft_rounded(fft_wide(a, INT32_MAX / (radix)))
#define fft_half(a) ((a) >> 1)
#define fft_half_sum(a, b) fft_half(fft_sum(a, b))
#define fft_half_difference(a, b) fft_half(fft_difference(a, b))
#define fft_dot(a, b, c, d, is_minus) \
  fft_rounded((is_minus) ? fft_wide(a, b) - fft_wide(c, d) : fft_wide(a, b) + fft_wide(c, d))

#include "dmo_fft_stages.h"

#endif
