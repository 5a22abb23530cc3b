// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Comparisons, what is made of their results, and the choice between two inputs. Broadcasting and loop order are those of
// dmo_broadcast.h. Scratch: none. Output and inputs do not overlap unless a planner proved it safe; see dmo_conv.h.
#ifndef DMO_CHOICE_H
#define DMO_CHOICE_H

#include "dmo_quantize.h"
#include "dmo_shape.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  DMO_EQUAL = 0,
  DMO_NOT_EQUAL = 1,
  DMO_GREATER = 2,
  DMO_GREATER_EQUAL = 3,
  DMO_LESS = 4,
  DMO_LESS_EQUAL = 5,
} dmo_relation;

// output = input 1 RELATION input 2
void dmo_compare_f32(dmo_relation relation, const dmo_shape *input1_shape, const float *input1,
                     const dmo_shape *input2_shape, const float *input2,
                     const dmo_shape *output_shape, bool *output);
void dmo_compare_s32(dmo_relation relation, const dmo_shape *input1_shape, const int32_t *input1,
                     const dmo_shape *input2_shape, const int32_t *input2,
                     const dmo_shape *output_shape, bool *output);

void dmo_compare_s64(dmo_relation relation, const dmo_shape *input1_shape, const int64_t *input1,
                     const dmo_shape *input2_shape, const int64_t *input2,
                     const dmo_shape *output_shape, bool *output);
void dmo_compare_bool(dmo_relation relation, const dmo_shape *input1_shape, const bool *input1,
                      const dmo_shape *input2_shape, const bool *input2,
                      const dmo_shape *output_shape, bool *output);

// Both inputs are brought to the scale 1 with 8 more bits.
enum { DMO_COMPARE_LEFT_SHIFT = 8 };

typedef struct {
  int32_t relation;                     // a dmo_relation
  int32_t input1_offset, input2_offset; // [-128, 128]
  dmo_quant_per_tensor input1, input2;  // their scales; shift is at most 0
} dmo_compare_params;

// output = requantize_1((input 1 + input1_offset) * 2^8) RELATION requantize_2((input 2 + input2_offset) * 2^8)
void dmo_compare_s8(const dmo_compare_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                    const dmo_shape *input2_shape, const int8_t *input2,
                    const dmo_shape *output_shape, bool *output);

void dmo_logical_and(const dmo_shape *input1_shape, const bool *input1,
                     const dmo_shape *input2_shape, const bool *input2,
                     const dmo_shape *output_shape, bool *output);
void dmo_logical_or(const dmo_shape *input1_shape, const bool *input1,
                    const dmo_shape *input2_shape, const bool *input2,
                    const dmo_shape *output_shape, bool *output);

// output = condition ? input 1 : input 2, of elements of element_bytes as in dmo_move.h. All three are
// loaded in any case: the condition, input 1, input 2.
void dmo_select(int32_t element_bytes, const dmo_shape *condition_shape, const bool *condition,
                const dmo_shape *input1_shape, const void *input1, const dmo_shape *input2_shape, const void *input2,
                const dmo_shape *output_shape, void *output);

#ifdef __cplusplus
}
#endif

#endif
