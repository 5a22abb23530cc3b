// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Transforms of any type of numbers. Whoever includes this has defined `fft_real` and, of such numbers, fft_sum,
// fft_difference, fft_negated, fft_product, fft_divided (by a radix), fft_half, fft_half_sum and fft_half_difference (of
// what has not wrapped yet, where the type is narrower than an int), and fft_dot: a * b + c * d, or the difference, rounded
// once.
#ifndef DMO_FFT_STAGES_H
#define DMO_FFT_STAGES_H

#include <stdbool.h>

typedef struct {
  fft_real re, im;
} fft_complex;

static inline fft_complex fft_plus(fft_complex a, fft_complex b) {
  return (fft_complex){ fft_sum(a.re, b.re), fft_sum(a.im, b.im) };
}

static inline fft_complex fft_minus(fft_complex a, fft_complex b) {
  return (fft_complex){ fft_difference(a.re, b.re), fft_difference(a.im, b.im) };
}

static inline fft_complex fft_turned(fft_complex a, fft_complex turn) {
  return (fft_complex){ fft_dot(a.re, turn.re, a.im, turn.im, true), fft_dot(a.re, turn.im, a.im, turn.re, false) };
}

static inline fft_complex fft_part(fft_complex a, int32_t radix) {
  return (fft_complex){ fft_divided(a.re, radix), fft_divided(a.im, radix) };
}

// Where the first stage wants the element that is at `place` in its order.
static inline int32_t fft_source(const dmo_fft_size *size, const int32_t *radices, int32_t place) {
  int32_t rest = place, points = size->half, stride = 1, source = 0;
  for (int32_t stage = 0; stage < size->stages; ++stage) {
    points /= radices[stage];
    source += rest / points * stride;
    rest %= points;
    stride *= radices[stage];
  }
  return source;
}

// a - b * i, or, on the way back, a + b * i.
static inline fft_complex fft_quarter(fft_complex a, fft_complex b, bool back) {
  return back ? (fft_complex){ fft_difference(a.re, b.im), fft_sum(a.im, b.re) }
              : (fft_complex){ fft_sum(a.re, b.im), fft_difference(a.im, b.re) };
}

static inline void fft_of_2(fft_complex *x, int32_t apart, const fft_complex *v) {
  x[apart] = fft_minus(v[0], v[1]);
  x[0] = fft_plus(v[0], v[1]);
}

static inline void fft_of_3(fft_complex *x, int32_t apart, const fft_complex *v, fft_complex third) {
  const fft_complex sum = fft_plus(v[1], v[2]), between = fft_minus(v[1], v[2]);
  const fft_complex middle = { fft_difference(v[0].re, fft_half(sum.re)), fft_difference(v[0].im, fft_half(sum.im)) };
  const fft_complex aside = { fft_product(between.re, third.im), fft_product(between.im, third.im) };
  x[0] = fft_plus(v[0], sum);
  x[2 * apart] = (fft_complex){ fft_sum(middle.re, aside.im), fft_difference(middle.im, aside.re) };
  x[apart] = (fft_complex){ fft_difference(middle.re, aside.im), fft_sum(middle.im, aside.re) };
}

static inline void fft_of_4(fft_complex *x, int32_t apart, const fft_complex *v, bool back) {
  const fft_complex even = fft_plus(v[0], v[2]), uneven = fft_minus(v[0], v[2]);
  const fft_complex sum = fft_plus(v[1], v[3]), between = fft_minus(v[1], v[3]);
  x[2 * apart] = fft_minus(even, sum);
  x[0] = fft_plus(even, sum);
  x[apart] = fft_quarter(uneven, between, back);
  x[3 * apart] = fft_quarter(uneven, between, !back);
}

// a + b * u + c * v, from the left.
static inline fft_real fft_mixed(fft_real a, fft_real b, fft_real u, fft_real c, fft_real v) {
  return fft_sum(fft_sum(a, fft_product(b, u)), fft_product(c, v));
}

static inline void fft_of_5(fft_complex *x, int32_t apart, const fft_complex *v, fft_complex a, fft_complex b) {
  const fft_complex outer = fft_plus(v[1], v[4]), across = fft_minus(v[1], v[4]);
  const fft_complex inner = fft_plus(v[2], v[3]), between = fft_minus(v[2], v[3]);
  x[0] = (fft_complex){ fft_sum(v[0].re, fft_sum(outer.re, inner.re)), fft_sum(v[0].im, fft_sum(outer.im, inner.im)) };
  const fft_complex near = { fft_mixed(v[0].re, outer.re, a.re, inner.re, b.re),
                             fft_mixed(v[0].im, outer.im, a.re, inner.im, b.re) };
  const fft_complex near_aside = {
    fft_sum(fft_product(across.im, a.im), fft_product(between.im, b.im)),
    fft_difference(fft_negated(fft_product(across.re, a.im)), fft_product(between.re, b.im)),
  };
  x[apart] = fft_minus(near, near_aside);
  x[4 * apart] = fft_plus(near, near_aside);
  const fft_complex far = { fft_mixed(v[0].re, outer.re, b.re, inner.re, a.re),
                            fft_mixed(v[0].im, outer.im, b.re, inner.im, a.re) };
  const fft_complex far_aside = {
    fft_difference(fft_product(between.im, a.im), fft_product(across.im, b.im)),
    fft_difference(fft_product(across.re, b.im), fft_product(between.re, a.im)),
  };
  x[2 * apart] = fft_plus(far, far_aside);
  x[3 * apart] = fft_minus(far, far_aside);
}

// All stages, in place: the last radix first, whose transforms take elements that stand side by side.
static inline void fft_stages(const dmo_fft_size *size, const int32_t *radices, const fft_complex *turns, bool back,
                              fft_complex *x) {
  int32_t apart = 1, blocks = size->half;
  for (int32_t stage = size->stages - 1; stage >= 0; --stage) {
    const int32_t radix = radices[stage];
    blocks /= radix;
    for (int32_t i = 0; i < blocks * apart; ++i) {
      const int32_t k = i % apart;
      fft_complex *first = x + (i - k) * radix + k, v[5];
      for (int32_t leg = 0; leg < radix; ++leg) {
        v[leg] = fft_part(first[leg * apart], radix);
        // Also by the turn of 0, which is a little less than 1.
        v[leg] = leg == 0 ? v[leg] : fft_turned(v[leg], turns[leg * k * blocks]);
      }
      switch (radix) {
      case 2: fft_of_2(first, apart, v); break;
      case 3: fft_of_3(first, apart, v, turns[blocks * apart]); break;
      case 4: fft_of_4(first, apart, v, back); break;
      default: fft_of_5(first, apart, v, turns[blocks * apart], turns[2 * blocks * apart]); break;
      }
    }
    apart *= radix;
  }
}

static inline void fft_forward(const dmo_fft_size *size, const int32_t *radices, const fft_complex *turns,
                               const fft_complex *half_turns, const fft_real *input, fft_complex *output,
                               fft_complex *work) {
  const int32_t half = size->half, given = size->input_length;
  for (int32_t row = 0; row < size->rows; ++row) {
    // Two real numbers are one complex one.
    for (int32_t i = 0; i < half; ++i) {
      const int32_t at = 2 * fft_source(size, radices, i);
      work[i] = (fft_complex){ at < given ? input[at] : 0, at + 1 < given ? input[at + 1] : 0 };
    }
    fft_stages(size, radices, turns, false, work);
    const fft_complex first = fft_part(work[0], 2);
    output[0] = (fft_complex){ fft_sum(first.re, first.im), 0 };
    output[half] = (fft_complex){ fft_difference(first.re, first.im), 0 };
    for (int32_t k = 1; k <= half / 2; ++k) {
      const fft_complex mirrored = { work[half - k].re, fft_negated(work[half - k].im) };
      const fft_complex one = fft_part(work[k], 2), other = fft_part(mirrored, 2);
      const fft_complex even = fft_plus(one, other), uneven = fft_turned(fft_minus(one, other), half_turns[k - 1]);
      output[k] = (fft_complex){ fft_half_sum(even.re, uneven.re), fft_half_sum(even.im, uneven.im) };
      output[half - k] = (fft_complex){ fft_half_difference(even.re, uneven.re), fft_half_difference(uneven.im, even.im) };
    }
    input += given;
    output += half + 1;
  }
}

static inline void fft_backward(const dmo_fft_size *size, const int32_t *radices, const fft_complex *turns,
                                const fft_complex *half_turns, const fft_complex *input, fft_complex *output,
                                fft_complex *work) {
  const int32_t half = size->half;
  for (int32_t row = 0; row < size->rows; ++row) {
    const fft_complex ends = { fft_sum(input[0].re, input[half].re), fft_difference(input[0].re, input[half].re) };
    work[0] = fft_part(ends, 2);
    for (int32_t k = 1; k <= half / 2; ++k) {
      const fft_complex mirrored = { input[half - k].re, fft_negated(input[half - k].im) };
      const fft_complex one = fft_part(input[k], 2), other = fft_part(mirrored, 2);
      const fft_complex even = fft_plus(one, other), uneven = fft_turned(fft_minus(one, other), half_turns[k - 1]);
      const fft_complex difference = fft_minus(even, uneven);
      work[k] = fft_plus(even, uneven);
      work[half - k] = (fft_complex){ difference.re, fft_negated(difference.im) };
    }
    for (int32_t i = 0; i < half; ++i) {
      output[i] = work[fft_source(size, radices, i)];
    }
    fft_stages(size, radices, turns, true, output);
    input += half + 1;
    output += half;
  }
}

#endif
