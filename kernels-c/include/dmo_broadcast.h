// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Binary operators with broadcasting: on each axis an input has either the output's extent, or 1, and then its one
// coordinate serves every output coordinate.
// Loop order: n, h, w, c of the output; each step loads input 1, then input 2, then stores the output. Scratch: none.
// Output and inputs do not overlap unless a planner proved it safe; see dmo_conv.h.
#ifndef DMO_BROADCAST_H
#define DMO_BROADCAST_H

#include "dmo_elementwise.h"
#include "dmo_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  float activation_min, activation_max;
} dmo_binary_f32_params;

// The arithmetic of dmo_add_s8, and of the same with the scaled input 2 subtracted.
void dmo_broadcast_add_s8(const dmo_add_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                          const dmo_shape *input2_shape, const int8_t *input2,
                          const dmo_shape *output_shape, int8_t *output);
void dmo_broadcast_sub_s8(const dmo_add_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                          const dmo_shape *input2_shape, const int8_t *input2,
                          const dmo_shape *output_shape, int8_t *output);

// The arithmetic of dmo_mul_s8.
void dmo_broadcast_mul_s8(const dmo_mul_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                          const dmo_shape *input2_shape, const int8_t *input2,
                          const dmo_shape *output_shape, int8_t *output);

// output = clamp(input 1 OPERATOR input 2)
void dmo_broadcast_add_f32(const dmo_binary_f32_params *params, const dmo_shape *input1_shape, const float *input1,
                           const dmo_shape *input2_shape, const float *input2,
                           const dmo_shape *output_shape, float *output);
void dmo_broadcast_sub_f32(const dmo_binary_f32_params *params, const dmo_shape *input1_shape, const float *input1,
                           const dmo_shape *input2_shape, const float *input2,
                           const dmo_shape *output_shape, float *output);
void dmo_broadcast_mul_f32(const dmo_binary_f32_params *params, const dmo_shape *input1_shape, const float *input1,
                           const dmo_shape *input2_shape, const float *input2,
                           const dmo_shape *output_shape, float *output);

void dmo_broadcast_div_f32(const dmo_binary_f32_params *params, const dmo_shape *input1_shape, const float *input1,
                           const dmo_shape *input2_shape, const float *input2,
                           const dmo_shape *output_shape, float *output);

// Integers of 32 bit that are no numbers on a scale. What does not fit wraps around.
typedef struct {
  int32_t activation_min, activation_max;
} dmo_binary_s32_params;

// output = clamp(input 1 OPERATOR input 2). A quotient is rounded towards 0; that by 0 is 0, which TensorFlow Lite Micro
// leaves open.
void dmo_broadcast_add_s32(const dmo_binary_s32_params *params, const dmo_shape *input1_shape, const int32_t *input1,
                           const dmo_shape *input2_shape, const int32_t *input2,
                           const dmo_shape *output_shape, int32_t *output);
void dmo_broadcast_sub_s32(const dmo_binary_s32_params *params, const dmo_shape *input1_shape, const int32_t *input1,
                           const dmo_shape *input2_shape, const int32_t *input2,
                           const dmo_shape *output_shape, int32_t *output);
void dmo_broadcast_mul_s32(const dmo_binary_s32_params *params, const dmo_shape *input1_shape, const int32_t *input1,
                           const dmo_shape *input2_shape, const int32_t *input2,
                           const dmo_shape *output_shape, int32_t *output);
void dmo_broadcast_div_s32(const dmo_binary_s32_params *params, const dmo_shape *input1_shape, const int32_t *input1,
                           const dmo_shape *input2_shape, const int32_t *input2,
                           const dmo_shape *output_shape, int32_t *output);

// Quotient of 8 bit. A divisor that stands for 0 counts as the least number above it.
typedef struct {
  int32_t input1_offset, input2_offset, output_offset; // [-128, 128]
  dmo_quant_per_tensor output;                         // input 1's scale / (input 2's * output scale); shift in [6, 23]
  int32_t activation_min, activation_max;
} dmo_div_params;

// output = clamp(output_offset + (input 1 + input1_offset) / (input 2 + input2_offset) * ratio): the reciprocal of the
// divisor by three Newton steps, rounded at each step.
void dmo_broadcast_div_s8(const dmo_div_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                          const dmo_shape *input2_shape, const int8_t *input2,
                          const dmo_shape *output_shape, int8_t *output);

// The quotient rounded down, by way of double precision; and the remainder, which has the sign of input 2.
void dmo_floor_div_f32(const dmo_shape *input1_shape, const float *input1,
                       const dmo_shape *input2_shape, const float *input2,
                       const dmo_shape *output_shape, float *output);
void dmo_floor_mod_f32(const dmo_shape *input1_shape, const float *input1,
                       const dmo_shape *input2_shape, const float *input2,
                       const dmo_shape *output_shape, float *output);

// PReLU: a for an input 1 of 0 or more, else a * b, where input 2 is the slope.
typedef struct {
  int32_t input_offset, alpha_offset, output_offset; // [-128, 128]; input and output 0 for 16 bit
  dmo_quant_per_tensor positive;                     // input 1's scale / output scale; at most 2^22, for 16 bit 2^14
  dmo_quant_per_tensor negative;                     // the same times the slope's scale; shift is at most 6
} dmo_prelu_params;

// output = saturate(output_offset + requantize(value)), where value is input 1 with its offset, by the ratio `positive`,
// or, below 0, its product with input 2 and that one's offset, by the ratio `negative`.
void dmo_prelu_s8(const dmo_prelu_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                  const dmo_shape *input2_shape, const int8_t *input2,
                  const dmo_shape *output_shape, int8_t *output);
void dmo_prelu_s16(const dmo_prelu_params *params, const dmo_shape *input1_shape, const int16_t *input1,
                   const dmo_shape *input2_shape, const int8_t *input2,
                   const dmo_shape *output_shape, int16_t *output);
void dmo_prelu_f32(const dmo_shape *input1_shape, const float *input1,
                   const dmo_shape *input2_shape, const float *input2,
                   const dmo_shape *output_shape, float *output);

// The square of the difference. In 8 bit both inputs are brought to twice the larger of their scales with 7 more bits, in
// 16 bit with none, and the ratio of the output is that scale's square / 2^14, or / 1, / output scale; shift is at most 0.
enum { DMO_SQUARED_DIFFERENCE_LEFT_SHIFT = 7 };
void dmo_squared_difference_s8(const dmo_add_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                               const dmo_shape *input2_shape, const int8_t *input2,
                               const dmo_shape *output_shape, int8_t *output);
void dmo_squared_difference_s16(const dmo_add_params *params, const dmo_shape *input1_shape, const int16_t *input1,
                                const dmo_shape *input2_shape, const int16_t *input2,
                                const dmo_shape *output_shape, int16_t *output);
void dmo_squared_difference_f32(const dmo_shape *input1_shape, const float *input1,
                                const dmo_shape *input2_shape, const float *input2,
                                const dmo_shape *output_shape, float *output);

// The same of integers that are no numbers on a scale; what does not fit wraps around.
void dmo_squared_difference_s32(const dmo_shape *input1_shape, const int32_t *input1,
                                const dmo_shape *input2_shape, const int32_t *input2,
                                const dmo_shape *output_shape, int32_t *output);

// The larger, or the smaller, of both. Quantised tensors share one scale and zero point.
void dmo_maximum_s8(const dmo_shape *input1_shape, const int8_t *input1,
                    const dmo_shape *input2_shape, const int8_t *input2,
                    const dmo_shape *output_shape, int8_t *output);
void dmo_minimum_s8(const dmo_shape *input1_shape, const int8_t *input1,
                    const dmo_shape *input2_shape, const int8_t *input2,
                    const dmo_shape *output_shape, int8_t *output);
void dmo_maximum_f32(const dmo_shape *input1_shape, const float *input1,
                     const dmo_shape *input2_shape, const float *input2,
                     const dmo_shape *output_shape, float *output);
void dmo_minimum_f32(const dmo_shape *input1_shape, const float *input1,
                     const dmo_shape *input2_shape, const float *input2,
                     const dmo_shape *output_shape, float *output);
void dmo_maximum_s16(const dmo_shape *input1_shape, const int16_t *input1,
                     const dmo_shape *input2_shape, const int16_t *input2,
                     const dmo_shape *output_shape, int16_t *output);
void dmo_maximum_s32(const dmo_shape *input1_shape, const int32_t *input1,
                     const dmo_shape *input2_shape, const int32_t *input2,
                     const dmo_shape *output_shape, int32_t *output);
void dmo_minimum_s16(const dmo_shape *input1_shape, const int16_t *input1,
                     const dmo_shape *input2_shape, const int16_t *input2,
                     const dmo_shape *output_shape, int16_t *output);
void dmo_minimum_s32(const dmo_shape *input1_shape, const int32_t *input1,
                     const dmo_shape *input2_shape, const int32_t *input2,
                     const dmo_shape *output_shape, int32_t *output);
void dmo_maximum_s64(const dmo_shape *input1_shape, const int64_t *input1,
                     const dmo_shape *input2_shape, const int64_t *input2,
                     const dmo_shape *output_shape, int64_t *output);
void dmo_minimum_s64(const dmo_shape *input1_shape, const int64_t *input1,
                     const dmo_shape *input2_shape, const int64_t *input2,
                     const dmo_shape *output_shape, int64_t *output);

#ifdef __cplusplus
}
#endif

#endif
