// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Products of matrices, one for each batch, that store each element once. Output and inputs do not overlap unless a
// planner proved it safe; see dmo_conv.h.
#ifndef DMO_BATCHED_MATMUL_H
#define DMO_BATCHED_MATMUL_H

#include "dmo_int16.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where the matrices of an operand lie: how many elements it is from one to the next, 0 if all batches have the same;
// from a row to the next, and from a column to the next. A transposed matrix has the distances of its columns and rows
// in each other's place.
typedef struct {
  int32_t batch, row, column;
} dmo_matrix_strides;

// output[batches, rows, columns] = a[batches, rows, inner] * b[batches, inner, columns]; the output is row-major.
typedef struct {
  int32_t batches, rows, inner, columns;
  dmo_matrix_strides a, b;
} dmo_batched_matmul_size;

// Offsets are in [-128, 128], the activation range lies in [-128, 127]; inner is at most 2^15.
typedef struct {
  int32_t a_offset, b_offset, output_offset;
  dmo_quant_per_tensor output; // a's scale * b's scale / output scale
  int32_t activation_min, activation_max;
} dmo_batched_matmul_params;

//   output[n, i, j] = clamp(output_offset + requantize(sum (a[n, i, k] + a_offset) * (b[n, k, j] + b_offset)))
//
// Loop order: n, i, j | k; a step of k loads a, then b; each output element is stored once, after its loads.
// Scratch: none.
void dmo_batched_matmul_s8(const dmo_batched_matmul_params *params, const dmo_batched_matmul_size *size,
                           const int8_t *a, const int8_t *b, int8_t *output);

// The same in 16 bit: offsets are 0 and not read, and requantize is dmo_requantize_wide of dmo_int16.h.
void dmo_batched_matmul_s16(const dmo_batched_matmul_params *params, const dmo_batched_matmul_size *size,
                            const int16_t *a, const int16_t *b, int16_t *output);

// Float, without offsets and clamp. Scratch: none.
void dmo_batched_matmul_f32(const dmo_batched_matmul_size *size, const float *a, const float *b, float *output);

#ifdef __cplusplus
}
#endif

#endif
