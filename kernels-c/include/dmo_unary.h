// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Operators of one input element, some of which change the element's type. They walk the flat index upwards: one load,
// then one store; `count` is the number of elements. Scratch: none. Output and input do not overlap unless a planner
// proved it safe; see dmo_conv.h.
#ifndef DMO_UNARY_H
#define DMO_UNARY_H

#include "dmo_quantize.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// real = scale * (quantised - zero_point). scale is above 0; the zero point is in the quantised type's range.
typedef struct {
  float scale;
  int32_t zero_point;
} dmo_affine_params;

// A whole number as 32 bits, as an Arm core converts it: what does not fit saturates, NaN is 0. In C alone that would be
// undefined, and other processors convert in other ways.
static inline int32_t dmo_whole(float number) {
#if !defined(__arm__)
  if (!(number >= -2147483648.0f)) {
    return number < 0.0f ? INT32_MIN : 0;
  }
  if (number >= 2147483648.0f) {
    return INT32_MAX;
  }
#endif
  return (int32_t)number;
}

// Wraps around, without being undefined.
static inline int32_t dmo_wrapping_add(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a + (uint32_t)b);
}

// output[i] = saturate(round(input[i] / scale) + zero_point), halves away from zero, where |input[i] / scale| is below
// 2^30; beyond that any element.
void dmo_quantize_f32_s8(const dmo_affine_params *params, int32_t count, const float *input, int8_t *output);
void dmo_quantize_f32_s16(const dmo_affine_params *params, int32_t count, const float *input, int16_t *output);

// output[i] = scale * (input[i] - zero_point)
void dmo_dequantize_s8_f32(const dmo_affine_params *params, int32_t count, const int8_t *input, float *output);
void dmo_dequantize_s16_f32(const dmo_affine_params *params, int32_t count, const int16_t *input, float *output);
void dmo_dequantize_u8_f32(const dmo_affine_params *params, int32_t count, const uint8_t *input, float *output);

// Offsets: for 8 bit in [-128, 128], without a sign in [-255, 255], for 16 bit in [-32768, 32768], for 32 bit in
// [-2^30, 2^30]. A positive shift must keep (input + input_offset) * 2^shift in 32 bits, and the requantised number must
// stay below 2^30.
typedef struct {
  int32_t input_offset, output_offset;
  dmo_quant_per_tensor output; // input scale / output scale
} dmo_requantize_params;

// output[i] = saturate(output_offset + requantize(input[i] + input_offset))
void dmo_requantize_s8_s8(const dmo_requantize_params *params, int32_t count, const int8_t *input, int8_t *output);
void dmo_requantize_u8_s8(const dmo_requantize_params *params, int32_t count, const uint8_t *input, int8_t *output);
void dmo_requantize_s8_u8(const dmo_requantize_params *params, int32_t count, const int8_t *input, uint8_t *output);
void dmo_requantize_s16_s8(const dmo_requantize_params *params, int32_t count, const int16_t *input, int8_t *output);
void dmo_requantize_s8_s16(const dmo_requantize_params *params, int32_t count, const int8_t *input, int16_t *output);
void dmo_requantize_s16_s16(const dmo_requantize_params *params, int32_t count, const int16_t *input, int16_t *output);
void dmo_requantize_s16_s32(const dmo_requantize_params *params, int32_t count, const int16_t *input, int32_t *output);
void dmo_requantize_s8_s32(const dmo_requantize_params *params, int32_t count, const int8_t *input, int32_t *output);
// An input of 32 bit wraps around where its offset takes it beyond, and the shift is at most -2.
void dmo_requantize_s32_s8(const dmo_requantize_params *params, int32_t count, const int32_t *input, int8_t *output);
void dmo_requantize_s32_s16(const dmo_requantize_params *params, int32_t count, const int32_t *input, int16_t *output);

// The input is brought to Q4.27: a signed number with 4 integer and 27 fractional bits. Beyond the radius the output
// saturates; the radius is at most floor(15 * 2^27 / 2^shift), so that what is left fits.
typedef struct {
  int32_t input_offset;       // [-128, 128]
  int32_t input_radius;       // at least 1
  dmo_quant_per_tensor input; // input scale * 2^27; shift is at least 0
} dmo_sigmoid_params;

// output = 1 / (1 + exp(-x)), with output scale 1/256 and zero point -128.
void dmo_logistic_s8(const dmo_sigmoid_params *params, int32_t count, const int8_t *input, int8_t *output);
void dmo_logistic_f32(int32_t count, const float *input, float *output);

// output = tanh(x), with output scale 1/128 and zero point 0.
void dmo_tanh_s8(const dmo_sigmoid_params *params, int32_t count, const int8_t *input, int8_t *output);
void dmo_tanh_f32(int32_t count, const float *input, float *output);

// x * min(6, max(0, x + 3)) / 6. Both ratios have 15-bit multipliers, in [2^14, 2^15), over 2^15.
typedef struct {
  int32_t input_offset, output_offset;          // [-127, 128] and [-128, 127]
  int32_t output_multiplier, output_shift;      // input scale / 128 / output scale; shift in [-31, 0]
  int32_t saturation_multiplier, saturation_shift; // input scale / 128 * 32768 / 3; shift in [-31, 15]
} dmo_hard_swish_params;

// 8 bit: in 16-bit fixed point. The input with 7 more bits is multiplied by `output`; it is also multiplied by
// `saturation`, saturated to [-1, 1] and moved to [0, 1]; the product of both, rounded towards zero, is divided by
// 2^-output_shift.
void dmo_hard_swish_s8(const dmo_hard_swish_params *params, int32_t count, const int8_t *input, int8_t *output);
void dmo_hard_swish_f32(int32_t count, const float *input, float *output);

// 16 bit: TensorFlow Lite has none, and the 8-bit kernel's fixed point would overflow. Here
//   ramp = clamp(16384 + requantize_ramp(input[i]), 0, 32768), which is (x / 6 + 1/2) in 1/32768,
//   output[i] = saturate(requantize_output(input[i] * ramp)).
// Every zero point is 0. With equal scales the output is less than 1.5 steps from the real curve.
typedef struct {
  dmo_quant_per_tensor ramp;   // input scale / 6 * 32768; shift at most 15
  dmo_quant_per_tensor output; // input scale / output scale / 32768; shift at most 0
} dmo_hard_swish_s16_params;

void dmo_hard_swish_s16(const dmo_hard_swish_s16_params *params, int32_t count, const int16_t *input,
                        int16_t *output);

// Leaky ReLU: x above 0, else alpha * x. A positive shift must keep (input + input_offset) * 2^shift in 32 bits, and
// the requantised number must stay below 2^30.
typedef struct {
  int32_t input_offset, output_offset; // [-127, 128] and [-128, 127] for 8 bit, 0 for 16 bit
  dmo_quant_per_tensor positive;       // input scale / output scale
  dmo_quant_per_tensor negative;       // |alpha| * input scale / output scale
  int32_t sign;                        // -1 for an alpha below 0, else 1
} dmo_leaky_relu_params;

// With value = input[i] + input_offset, output[i] = saturate(output_offset + requantized), where requantized is
//   requantize_positive(value)          for a value of 0 or more,
//   sign * requantize_negative(value)   for one below 0.
void dmo_leaky_relu_s8(const dmo_leaky_relu_params *params, int32_t count, const int8_t *input, int8_t *output);
// As for 8 bit; every zero point is 0, and the kernel does not read the offsets.
void dmo_leaky_relu_s16(const dmo_leaky_relu_params *params, int32_t count, const int16_t *input, int16_t *output);
void dmo_leaky_relu_f32(float alpha, int32_t count, const float *input, float *output);

// The functions of their names. Rounding is to nearest, halves to even; elu is exp(x) - 1 below 0, else x.
void dmo_abs_f32(int32_t count, const float *input, float *output);
void dmo_neg_f32(int32_t count, const float *input, float *output);
void dmo_square_f32(int32_t count, const float *input, float *output);
void dmo_sqrt_f32(int32_t count, const float *input, float *output);
void dmo_rsqrt_f32(int32_t count, const float *input, float *output);
void dmo_exp_f32(int32_t count, const float *input, float *output);
void dmo_log_f32(int32_t count, const float *input, float *output);
void dmo_sin_f32(int32_t count, const float *input, float *output);
void dmo_cos_f32(int32_t count, const float *input, float *output);
void dmo_floor_f32(int32_t count, const float *input, float *output);
void dmo_ceil_f32(int32_t count, const float *input, float *output);
void dmo_round_f32(int32_t count, const float *input, float *output);
void dmo_elu_f32(int32_t count, const float *input, float *output);

// output[i] = saturate(output_offset + requantize(|input[i] + input_offset|))
void dmo_abs_s8(const dmo_requantize_params *params, int32_t count, const int8_t *input, int8_t *output);
void dmo_abs_s16(const dmo_requantize_params *params, int32_t count, const int16_t *input, int16_t *output);

// output[i] = saturate(output_offset + 1 / sqrt(input[i] + input_offset) * ratio), where the ratio, in `output`, is
// 1 / (sqrt(input scale) * output scale), with a shift of at most 30; 127 for roots of 0 and less.
void dmo_rsqrt_s8(const dmo_requantize_params *params, int32_t count, const int8_t *input, int8_t *output);

// Any function: output[i] = table[input[i]], where the input counts as unsigned.
void dmo_lookup_s8(const int8_t table[256], int32_t count, const int8_t *input, int8_t *output);

void dmo_logical_not(int32_t count, const bool *input, bool *output);

typedef enum {
  DMO_BOOL = 0,
  DMO_S8 = 1,
  DMO_S16 = 2,
  DMO_S32 = 3,
  DMO_F32 = 4,
} dmo_element_type;

// The same number in another type, which is not DMO_BOOL: floats towards 0, what does not fit in 32 bits saturated, and of
// what does not fit in fewer the lowest bits.
void dmo_cast(dmo_element_type from, dmo_element_type to, int32_t count, const void *input, void *output);

#ifdef __cplusplus
}
#endif

#endif
