// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Matrix products. Output and inputs do not overlap unless a planner proved it safe; see dmo_conv.h.
#ifndef DMO_MATMUL_H
#define DMO_MATMUL_H

#include "dmo_quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

// Offsets are in [-128, 128], the activation range lies in [-128, 127].
typedef struct {
  int32_t input_offset, filter_offset, output_offset;
  int32_t activation_min, activation_max;
} dmo_fully_connected_params;

typedef struct {
  float activation_min, activation_max;
} dmo_fully_connected_f32_params;

// Fully connected layer, 8 bit.
//
//   output[b, o] = clamp(output_offset + requantize(bias[o] +
//                        sum (input[b, i] + input_offset) * (filter[o, i] + filter_offset)))
//
// input [batches, inputs], filter [outputs, inputs], output [batches, outputs], bias [outputs] or NULL for none.
// Loop order: b, o | i; each output element is stored once, after its loads. Scratch: none.
void dmo_fully_connected_s8(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                            int32_t batches, int32_t inputs, int32_t outputs,
                            const int8_t *input, const int8_t *filter, const int32_t *bias, int8_t *output);

// Fully connected layer, float. Layouts and loop order are those of dmo_fully_connected_s8. Scratch: none.
void dmo_fully_connected_f32(const dmo_fully_connected_f32_params *params,
                             int32_t batches, int32_t inputs, int32_t outputs,
                             const float *input, const float *filter, const float *bias, float *output);

// c[rows, columns] = a[rows, inner] * b[inner, columns], all row-major.
typedef struct {
  int32_t rows, inner, columns;
} dmo_matmul_size;

// Matrix product that accumulates in its output: the output is first set to zero, then the loops k, i, j add
// a[i, k] * b[k, j] to c[i, j]. The worst case for overlapping: every output element is stored before the last input
// element is loaded. inner is at most 2^17, so that a sum of 8-bit products fits. Scratch: none.
void dmo_matmul_s8(const dmo_matmul_size *size, const int8_t *a, const int8_t *b, int32_t *c);
void dmo_matmul_f32(const dmo_matmul_size *size, const float *a, const float *b, float *c);

#ifdef __cplusplus
}
#endif

#endif
