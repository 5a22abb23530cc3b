// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Numbers of 16 bits, of which 15 are after the point. What does not fit wraps.
#ifndef DMO_FFT_S16_H
#define DMO_FFT_S16_H

#include "dmo_fft.h"

typedef int16_t fft_real;

#define fft_sum(a, b) ((int16_t)((a) + (b)))
#define fft_difference(a, b) ((int16_t)((a) - (b)))
#define fft_negated(a) ((int16_t)-(a))
#define fft_rounded(product) ((int16_t)(((product) + (1 << 14)) >> 15))
#define fft_product(a, b) fft_rounded((a) * (b))
#define fft_divided(a, radix) fft_rounded((a) * (INT16_MAX / (radix)))
#define fft_half(a) ((int16_t)((a) >> 1))
#define fft_half_sum(a, b) ((int16_t)(((a) + (b)) >> 1))
#define fft_half_difference(a, b) ((int16_t)(((a) - (b)) >> 1))
#define fft_dot(a, b, c, d, is_minus) fft_rounded((is_minus) ? (a) * (b) - (c) * (d) : (a) * (b) + (c) * (d))

#include "dmo_fft_stages.h"

#endif
