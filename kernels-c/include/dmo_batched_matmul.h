// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Products of matrices, one for each batch, that store each element once. Output and inputs do not overlap unless a
// planner proved it safe; see dmo_conv.h.
#ifndef DMO_BATCHED_MATMUL_H
#define DMO_BATCHED_MATMUL_H

#include "dmo_quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

// output[batches, rows, columns] = a[batches, rows, inner] * b[batches, inner, columns], all row-major.
typedef struct {
  int32_t batches, rows, inner, columns;
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

// Float, without offsets and clamp. Scratch: none.
void dmo_batched_matmul_f32(const dmo_batched_matmul_size *size, const float *a, const float *b, float *output);

#ifdef __cplusplus
}
#endif

#endif
