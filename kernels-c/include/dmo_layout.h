// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Operators that move elements without changing them. Output and inputs do not overlap unless a planner proved it
// safe; see dmo_conv.h. For those that call memcpy, which promises nothing about its order, that means: not at all, or
// (reshape) at exactly the same address.
#ifndef DMO_LAYOUT_H
#define DMO_LAYOUT_H

#include "dmo_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Concatenation along one axis. The input shapes agree on the other axes; the output's extent on the axis is their sum.
// All inputs and the output share one scale and zero point.
// Loop order: for each position on the axes before the axis, for each input, one memcpy. Scratch: none.
void dmo_concat_s8(dmo_axis axis, int32_t input_count, const dmo_shape *input_shapes, const int8_t *const *inputs,
                   int8_t *output);
void dmo_concat_f32(dmo_axis axis, int32_t input_count, const dmo_shape *input_shapes, const float *const *inputs,
                    float *output);

// Elements before the input on each axis; those after it follow from the output's shape.
typedef struct {
  int32_t n, h, w, c;
} dmo_padding;

// Surrounds the input by `value`, for 8 bit usually the zero point.
// Loop order: n, h, w, c of the output; each element is stored once, after the load, if any, of its input element.
// Scratch: none.
void dmo_pad_s8(const dmo_padding *before, int8_t value, const dmo_shape *input_shape, const int8_t *input,
                const dmo_shape *output_shape, int8_t *output);
void dmo_pad_f32(const dmo_padding *before, float value, const dmo_shape *input_shape, const float *input,
                 const dmo_shape *output_shape, float *output);

// Same elements, another shape: one memcpy, left out where output == input. Scratch: none.
void dmo_reshape_s8(int32_t count, const int8_t *input, int8_t *output);
void dmo_reshape_f32(int32_t count, const float *input, float *output);

#ifdef __cplusplus
}
#endif

#endif
