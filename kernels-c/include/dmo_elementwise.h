// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Element-wise operators. They walk the flat index upwards, and each output element is stored once, after the loads of
// its input elements; `count` is the number of elements. Scratch: none. Output and inputs do not overlap unless a
// planner proved it safe; see dmo_conv.h.
#ifndef DMO_ELEMENTWISE_H
#define DMO_ELEMENTWISE_H

#include "dmo_quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

// The input is requantised to the output's scale and clamped. ReLU: activation_min is the output's zero point,
// activation_max 127. ReLU6: activation_max is the quantised 6, at most 127.
typedef struct {
  int32_t input_offset, output_offset; // [-128, 128]
  dmo_quant_per_tensor output;         // input scale / output scale
  int32_t activation_min, activation_max;
} dmo_relu_params;

// output[i] = clamp(output_offset + requantize(input[i] + input_offset)): ReLU and ReLU6 both, by the clamp.
void dmo_relu_s8(const dmo_relu_params *params, int32_t count, const int8_t *input, int8_t *output);

// output[i] = max(0, input[i])
void dmo_relu_f32(int32_t count, const float *input, float *output);

// output[i] = min(6, max(0, input[i]))
void dmo_relu6_f32(int32_t count, const float *input, float *output);

// Both inputs are brought to a common scale, twice the larger of theirs, in which they are kept with 20 more bits.
typedef struct {
  int32_t input1_offset, input2_offset, output_offset; // [-128, 128]
  dmo_quant_per_tensor input1; // input 1's scale / common scale; shift is at most 0
  dmo_quant_per_tensor input2; // input 2's scale / common scale; shift is at most 0
  dmo_quant_per_tensor output; // common scale / 2^20 / output scale; shift is at most 0
  int32_t activation_min, activation_max;
} dmo_add_params;

enum { DMO_ADD_LEFT_SHIFT = 20 };

// output[i] = clamp(output_offset + requantize_output(sum over both inputs j of
//                   requantize_j((input_j[i] + input_j_offset) * 2^20)))
void dmo_add_s8(const dmo_add_params *params, int32_t count, const int8_t *input1, const int8_t *input2,
                int8_t *output);

// output[i] = clamp(input1[i] + input2[i])
void dmo_add_f32(float activation_min, float activation_max, int32_t count, const float *input1, const float *input2,
                 float *output);

typedef struct {
  int32_t input1_offset, input2_offset, output_offset; // [-128, 128]
  dmo_quant_per_tensor output;                         // input 1's scale * input 2's scale / output scale
  int32_t activation_min, activation_max;
} dmo_mul_params;

// output[i] = clamp(output_offset + requantize((input1[i] + input1_offset) * (input2[i] + input2_offset)))
void dmo_mul_s8(const dmo_mul_params *params, int32_t count, const int8_t *input1, const int8_t *input2,
                int8_t *output);

// output[i] = clamp(input1[i] * input2[i])
void dmo_mul_f32(float activation_min, float activation_max, int32_t count, const float *input1, const float *input2,
                 float *output);

// The sum of any number of inputs, from 0 on in their order.
void dmo_add_n_f32(int32_t input_count, int32_t count, const float *const *inputs, float *output);

// The inputs share one scale and zero point.
typedef struct {
  int32_t input_offset, output_offset; // [-128, 128]
  dmo_quant_per_tensor output;         // 2 * input scale / 2^20 / output scale; shift is at most 0
} dmo_add_n_params;

// The sum begins with the offset, as TensorFlow Lite's does, and wraps around:
//   output[i] = saturate(output_offset + requantize(2^19 * (input_offset + sum over all j of
//               (inputs[j][i] + input_offset))))
void dmo_add_n_s8(const dmo_add_n_params *params, int32_t input_count, int32_t count, const int8_t *const *inputs,
                  int8_t *output);

#ifdef __cplusplus
}
#endif

#endif
