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

// The larger, or the smaller, of both. For 8 bit all three tensors share one scale and zero point.
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

#ifdef __cplusplus
}
#endif

#endif
