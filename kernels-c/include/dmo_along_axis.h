// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Operators along one axis, and rows that are normalised. Output and input do not overlap unless a planner proved it safe;
// see dmo_conv.h.
#ifndef DMO_ALONG_AXIS_H
#define DMO_ALONG_AXIS_H

#include "dmo_softmax.h"

#ifdef __cplusplus
extern "C" {
#endif

// Positions on the axes before one, its extent, and positions on the axes after it.
typedef struct {
  int32_t before, extent, after;
} dmo_axis_size;

// The index of the largest element (greatest is 1) or of the smallest (0) along the axis; of equal ones the first. A
// number comes before one that is none. input [before, extent, after], output [before, after].
// Loop order: before, after | extent; each index is stored once, after its loads. Scratch: none.
void dmo_arg_extreme_s8(const dmo_axis_size *size, int32_t greatest, const int8_t *input, int32_t *output);
void dmo_arg_extreme_f32(const dmo_axis_size *size, int32_t greatest, const float *input, int32_t *output);

// exclusive: an element is stored before its own number is added. reverse: all loops run from the end. Each is 0 or 1.
typedef struct {
  dmo_axis_size size;
  int32_t exclusive, reverse;
} dmo_cumulative_sum_params;

// Cumulative sums along the axis; input and output [before, extent, after].
// Loop order: after, before, extent; one load, then one store, or, where it is exclusive, the other way round. Scratch:
// none.
void dmo_cumulative_sum_f32(const dmo_cumulative_sum_params *params, const float *input, float *output);

typedef struct {
  int32_t input_offset, output_offset; // [-128, 128]
  dmo_quant_per_tensor output;         // 2 * input scale / 2^20 / output scale; shift is at most 0
} dmo_cumulative_sum_quant;

// The sums of 2^19 * (input + input_offset) begin with 2^19 * input_offset, as TensorFlow Lite Micro's do, and wrap around:
// a number of 8 bits may be summed 15 times.
void dmo_cumulative_sum_s8(const dmo_cumulative_sum_params *params, const dmo_cumulative_sum_quant *quant,
                           const int8_t *input, int8_t *output);

// Each row divided by the square root of the sum of its squares; input and output [rows, depth]. In 8 bit the output
// scale is 1/128 and the zero point 0, and a row has at most 2^15 elements. A float root is at least 1e-6.
// Loop order, for each row: a pass over the input for the sum, a pass that loads it again and stores. Scratch: none.
void dmo_l2_normalisation_s8(int32_t input_offset, int32_t rows, int32_t depth, const int8_t *input, int8_t *output);
void dmo_l2_normalisation_f32(int32_t rows, int32_t depth, const float *input, float *output);

// The logarithm of the softmax, x - max - log(sum of exp(x - max)).
// Loop order, for each row: a pass over the input for its maximum, one for the sum, one that loads it again and stores.
// Scratch: none.
// In 8 bit the output scale is 1/16 and the zero point 127. The parameters are those of dmo_softmax_s8, with a shift of at
// least 1; `inverse` is 1 / input_beta, which brings logarithms in Q5.26 back to steps of the input.
typedef struct {
  dmo_softmax_params softmax;
  dmo_quant_per_tensor inverse; // shift is at most 0
} dmo_log_softmax_params;

void dmo_log_softmax_s8(const dmo_log_softmax_params *params, int32_t rows, int32_t depth, const int8_t *input,
                        int8_t *output);
void dmo_log_softmax_f32(int32_t rows, int32_t depth, const float *input, float *output);

#ifdef __cplusplus
}
#endif

#endif
