// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "dmo_fft.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 300, MOST_HALF = 60, MOST_STAGES = 6, ROWS = 2 };

// Two numbers are one complex one, whose magnitude must be below 1.
enum { LOUDEST = 23000 };

static const double PI = 3.14159265358979323846;

// A product of a few radices.
static dmo_fft_size random_size(int32_t *radices) {
  dmo_fft_size size = { 1, 0, random_between(1, ROWS), 0 };
  do {
    radices[size.stages] = random_between(2, 5);
    size.half *= radices[size.stages++];
  } while (size.half * 5 <= MOST_HALF && random_between(0, 2) != 0);
  size.input_length = random_between(1, 2 * size.half);
  return size;
}

// Turns of both tables, one after the other, in a direction.
static void turns(const dmo_fft_size *size, double direction, double *all, int32_t *count) {
  *count = 0;
  for (int32_t k = 0; k < size->half + size->half / 2; ++k) {
    const int32_t late = k - size->half;
    const double phase = late < 0 ? 2.0 * PI * k / size->half : PI * ((late + 1.0) / size->half + 0.5);
    all[(*count)++] = cos(phase);
    all[(*count)++] = direction * sin(phase);
  }
}

// From its definition: sum of x[t] * exp(-2 pi i k t / n).
static void spectrum(const double *x, int32_t given, int32_t n, int32_t k, double *re, double *im) {
  *re = *im = 0.0;
  for (int32_t t = 0; t < given; ++t) {
    *re += x[t] * cos(2.0 * PI * k * t / n);
    *im -= x[t] * sin(2.0 * PI * k * t / n);
  }
}

#define TOP_S16 32767.0
#define TOP_S32 2147483647.0

// Integers come out divided by n, give or take what each of the stages rounds off.
static void transforms(void) {
  int32_t radices[MOST_STAGES], count;
  dmo_fft_size size = random_size(radices);
  const int32_t half = size.half, n = 2 * half, given = size.input_length, rows = size.rows;
  double angles[3 * MOST_HALF], x[ROWS * 2 * MOST_HALF];
  int16_t turns_s16[3 * MOST_HALF], input_s16[ROWS * 2 * MOST_HALF], output_s16[ROWS * (2 * MOST_HALF + 2)];
  int32_t turns_s32[3 * MOST_HALF], input_s32[ROWS * 2 * MOST_HALF], output_s32[ROWS * (2 * MOST_HALF + 2)];
  float turns_f32[3 * MOST_HALF], input_f32[ROWS * 2 * MOST_HALF], output_f32[ROWS * (2 * MOST_HALF + 2)];
  int16_t scratch_s16[2 * MOST_HALF], again_s16[ROWS * 2 * MOST_HALF];
  int32_t scratch_s32[2 * MOST_HALF], again_s32[ROWS * 2 * MOST_HALF];
  float scratch_f32[2 * MOST_HALF], again_f32[ROWS * 2 * MOST_HALF];
  const bool sizes_are_right = dmo_fft_s16_scratch_bytes(&size) == 4 * half &&
                               dmo_fft_s32_scratch_bytes(&size) == 8 * half && dmo_fft_f32_scratch_bytes(&size) == 8 * half;
  CHECK(sizes_are_right, "fft scratch", half);

  for (int32_t i = 0; i < rows * given; ++i) {
    x[i] = (double)random_between(-LOUDEST, LOUDEST) / 32768.0;
    input_s16[i] = (int16_t)(x[i] * 32768.0);
    input_s32[i] = (int32_t)(x[i] * 2147483648.0);
    input_f32[i] = (float)x[i];
  }
  for (int32_t way = -1; way <= 1; way += 2) {
    turns(&size, way, angles, &count);
    for (int32_t i = 0; i < count; ++i) {
      turns_s16[i] = (int16_t)floor(TOP_S16 * angles[i] + 0.5);
      turns_s32[i] = (int32_t)floor(TOP_S32 * angles[i] + 0.5);
      turns_f32[i] = (float)angles[i];
    }
    if (way < 0) {
      dmo_rfft_s16(&size, radices, turns_s16, turns_s16 + n, input_s16, output_s16, scratch_s16);
      dmo_rfft_s32(&size, radices, turns_s32, turns_s32 + n, input_s32, output_s32, scratch_s32);
      dmo_rfft_f32(&size, radices, turns_f32, turns_f32 + n, input_f32, output_f32, scratch_f32);
    } else {
      size.input_length = n + 2;
      dmo_irfft_s16(&size, radices, turns_s16, turns_s16 + n, output_s16, again_s16, scratch_s16);
      dmo_irfft_s32(&size, radices, turns_s32, turns_s32 + n, output_s32, again_s32, scratch_s32);
      dmo_irfft_f32(&size, radices, turns_f32, turns_f32 + n, output_f32, again_f32, scratch_f32);
    }
  }

  int32_t wrong = 0, wrong_again = 0;
  for (int32_t i = 0; i < rows * (half + 1); ++i) {
    double exact[2];
    spectrum(x + i / (half + 1) * given, given, n, i % (half + 1), &exact[0], &exact[1]);
    for (int32_t part = 0; part < 2; ++part) {
      const int32_t at = 2 * i + part;
      wrong += fabs((double)output_f32[at] - exact[part]) < 1e-5 * n ? 0 : 1;
      wrong += fabs(output_s16[at] - 32768.0 * exact[part] / n) < 8.0 ? 0 : 1;
      wrong += fabs(output_s32[at] - 2147483648.0 * exact[part] / n) < 32.0 ? 0 : 1;
    }
  }
  for (int32_t i = 0; i < rows * n; ++i) {
    const double exact = i % n < given ? x[i / n * given + i % n] : 0.0;
    wrong_again += fabs((double)again_f32[i] - exact) < 1e-5 ? 0 : 1;
    wrong_again += fabs(again_s16[i] - 32768.0 * exact / n) < 8.0 ? 0 : 1;
    wrong_again += fabs(again_s32[i] - 2147483648.0 * exact / n) < 32.0 ? 0 : 1;
  }
  CHECK(wrong == 0, "rfft", wrong);
  CHECK(wrong_again == 0, "irfft", wrong_again);
}

void test_fft(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    transforms();
  }
}
