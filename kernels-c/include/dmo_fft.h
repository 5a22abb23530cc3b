// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fourier transforms of real numbers, each by a complex transform of half as many points: the arithmetic of KISS FFT 130 as
// TensorFlow Lite Micro builds it, rounding for rounding. Output, input and scratch do not overlap unless a planner proved it
// safe (see dmo_conv.h). Complex numbers are pairs, the real part first. Buffers are aligned to their elements.
#ifndef DMO_FFT_H
#define DMO_FFT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The transform has 2 * half points; half is the product of `stages` radices, each of them 2, 3, 4 or 5. Row r of the input
// has input_length elements, of output of a transform to frequencies half + 1 complex numbers.
typedef struct {
  int32_t half, stages, rows, input_length;
} dmo_fft_size;

// Bytes of scratch: half complex numbers.
int32_t dmo_fft_s16_scratch_bytes(const dmo_fft_size *size);
int32_t dmo_fft_s32_scratch_bytes(const dmo_fft_size *size);
int32_t dmo_fft_f32_scratch_bytes(const dmo_fft_size *size);

// To frequencies; where there are fewer than 2 * half elements in a row, zeros follow. Of integers each stage divides by its
// radix, and the last step by 2, so that nothing overflows where all magnitudes are below 0.7; what does wraps.
// radices [stages]; turns [half]: exp(-2 pi i k / half); half_turns [half / 2]: exp(-pi i ((k + 1) / half + 1 / 2)), times
// 2^15 - 1 or 2^31 - 1 for integers, rounded.
// Order: row by row: loads all of it, in the order in which the first stage wants it, and then stores all of it.
void dmo_rfft_s16(const dmo_fft_size *size, const int32_t *radices, const int16_t *turns, const int16_t *half_turns,
                  const int16_t *input, int16_t *output, int16_t *scratch);
void dmo_rfft_s32(const dmo_fft_size *size, const int32_t *radices, const int32_t *turns, const int32_t *half_turns,
                  const int32_t *input, int32_t *output, int32_t *scratch);
void dmo_rfft_f32(const dmo_fft_size *size, const int32_t *radices, const float *turns, const float *half_turns,
                  const float *input, float *output, float *scratch);

// The way back, with the conjugates of these turns; input_length is 2 * half + 2. Floats are divided by 2 * half, integers
// have been divided on the way as above. Order: row by row: loads all of it, and then computes in the output.
void dmo_irfft_s16(const dmo_fft_size *size, const int32_t *radices, const int16_t *turns, const int16_t *half_turns,
                   const int16_t *input, int16_t *output, int16_t *scratch);
void dmo_irfft_s32(const dmo_fft_size *size, const int32_t *radices, const int32_t *turns, const int32_t *half_turns,
                   const int32_t *input, int32_t *output, int32_t *scratch);
void dmo_irfft_f32(const dmo_fft_size *size, const int32_t *radices, const float *turns, const float *half_turns,
                   const float *input, float *output, float *scratch);

#ifdef __cplusplus
}
#endif

#endif
