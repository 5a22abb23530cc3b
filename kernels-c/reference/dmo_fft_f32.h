// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef DMO_FFT_F32_H
#define DMO_FFT_F32_H

#include "dmo_fft.h"

typedef float fft_real;

#define fft_sum(a, b) ((a) + (b))
#define fft_difference(a, b) ((a) - (b))
#define fft_negated(a) (-(a))
#define fft_product(a, b) ((a) * (b))
#define fft_divided(a, radix) ((void)(radix), (a))
#define fft_half(a) ((a) * 0.5f)
#define fft_half_sum(a, b) fft_half(fft_sum(a, b))
#define fft_half_difference(a, b) fft_half(fft_difference(a, b))
#define fft_dot(a, b, c, d, is_minus) ((is_minus) ? (a) * (b) - (c) * (d) : (a) * (b) + (c) * (d))

#include "dmo_fft_stages.h"

#endif
