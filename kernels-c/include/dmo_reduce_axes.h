// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reductions over every axis on which the output's extent is 1; on the others output and input agree. The mean is
// dmo_mean_f32 of dmo_reduce.h. Output and input do not overlap unless a planner proved it safe; see dmo_conv.h.
#ifndef DMO_REDUCE_AXES_H
#define DMO_REDUCE_AXES_H

#include "dmo_reduce.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Sum, largest and smallest element, in the output.
// Loop order: stores 0, the lowest or the highest float to the whole output; loads the input in flat order, and with
// each element loads and stores its output element. No overlap is ever safe. Scratch: none.
void dmo_sum_f32(const dmo_shape *input_shape, const float *input, const dmo_shape *output_shape, float *output);
void dmo_reduce_max_f32(const dmo_shape *input_shape, const float *input,
                        const dmo_shape *output_shape, float *output);
void dmo_reduce_min_f32(const dmo_shape *input_shape, const float *input,
                        const dmo_shape *output_shape, float *output);

// The same in 8 bit; output and input share one scale and zero point.
void dmo_reduce_max_s8(const dmo_shape *input_shape, const int8_t *input, const dmo_shape *output_shape, int8_t *output);
void dmo_reduce_min_s8(const dmo_shape *input_shape, const int8_t *input, const dmo_shape *output_shape, int8_t *output);

// The same of truths: whether all are true.
void dmo_reduce_all(const dmo_shape *input_shape, const bool *input, const dmo_shape *output_shape, bool *output);

// Bytes of scratch: one int32_t for each output element. It overlaps neither output nor input.
int32_t dmo_sum_s8_scratch_bytes(const dmo_shape *output_shape);
int32_t dmo_sum_s16_scratch_bytes(const dmo_shape *output_shape);

//   output = saturate(output_zero_point + requantize(sum (input - input_zero_point)))
//
// At most 2^22 elements are summed into one, of 16 bit at most 2^14.
// Loop order: zeroes the scratch; loads the input in flat order and adds each element to the scratch; loads the scratch
// and stores the output in flat order. Every load of the input comes before every store of the output.
void dmo_sum_s8(const dmo_mean_params *params, const dmo_shape *input_shape, const int8_t *input,
                const dmo_shape *output_shape, int8_t *output, int32_t *scratch);
void dmo_sum_s16(const dmo_mean_params *params, const dmo_shape *input_shape, const int16_t *input,
                 const dmo_shape *output_shape, int16_t *output, int32_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
