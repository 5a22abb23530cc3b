// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Integer arithmetic of 8-bit quantised kernels.
//
// A quantised value q stands for the real number scale * (q - zero_point). A kernel never sees a scale: the ratio of
// scales that it needs is given as multiplier / 2^31 * 2^shift, with multiplier in [2^30, 2^31) (or 0 for the ratio 0)
// and shift in [-31, 30]. "Offset" means a number that is added: an input offset is minus the input's zero point, an
// output offset is the output's zero point.
#ifndef DMO_QUANTIZE_H
#define DMO_QUANTIZE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One ratio for a whole tensor.
typedef struct {
  int32_t multiplier;
  int32_t shift;
} dmo_quant_per_tensor;

// One ratio for each output channel; both arrays have as many elements as the output has channels.
typedef struct {
  const int32_t *multiplier;
  const int32_t *shift;
} dmo_quant_per_channel;

static inline int32_t dmo_clamp(int32_t value, int32_t min, int32_t max) {
  return value < min ? min : value > max ? max : value;
}

static inline float dmo_clamp_f32(float value, float min, float max) {
  return value < min ? min : value > max ? max : value;
}

// a * b / 2^31, rounded to nearest, halves up. The one product that does not fit, INT32_MIN * INT32_MIN, saturates.
static inline int32_t dmo_multiply_high(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) {
    return INT32_MAX;
  }
  return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

// value / 2^exponent, rounded to nearest, halves away from zero. exponent is in [0, 31].
static inline int32_t dmo_divide_by_power_of_two(int32_t value, int32_t exponent) {
  const int32_t mask = (int32_t)((UINT32_C(1) << exponent) - 1u);
  const int32_t remainder = value & mask;
  const int32_t half = (mask >> 1) + (value < 0 ? 1 : 0);
  return (value >> exponent) + (remainder > half ? 1 : 0);
}

// value * multiplier / 2^31 * 2^shift, rounded twice: once by the multiplication and once by the division that a
// negative shift asks for. For a positive shift, value * 2^shift must fit an int32_t.
static inline int32_t dmo_requantize(int32_t value, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  const int32_t right = shift > 0 ? 0 : -shift;
  const int32_t scaled = (int32_t)((uint32_t)value << left);
  return dmo_divide_by_power_of_two(dmo_multiply_high(scaled, multiplier), right);
}

#ifdef __cplusplus
}
#endif

#endif
