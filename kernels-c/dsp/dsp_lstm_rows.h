// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Assembly for blocks of four rows of weights by a vector, with 16-bit results: what both widths of a vector's elements
// have in common.
//
//   r0 vector, r1 end of its groups, then of it   r2 weights, r12 two rows further   r3 apart   r4 to r7 sums
//   r8, r9 even and odd columns of the vector     r10, r11 columns of two rows       lr temporary
// and behind the columns
//   lr block   r0 multiplier   r1 half   r8 right   r9 adds   r10 values   r2, r3, r11 temporary
#ifndef DSP_LSTM_ROWS_H
#define DSP_LSTM_ROWS_H

#include "dsp_lstm.h"
#include "dsp_vector_group.h"

#if DSP_INSTRUCTIONS

// What the assembly reads, and in part advances, in this order.
typedef struct {
  uint32_t vector, groups_end, vector_end; // addresses
  int32_t apart;                           // bytes from one row of weights to the next
  const int8_t *weights;                   // of the next block
  const void *bias;
  int16_t *values, *values_end;
  int32_t multiplier, half, right; // as REQUANTIZE of DSP_LSTM_ROWS takes them
  int32_t adds;
} dsp_lstm_block;

// A block with all but the scale; the vector's elements have `bytes`. There are whole blocks, at least one.
DSP_INLINE dsp_lstm_block dsp_make_lstm_block(const dsp_lstm_matrix *matrix, const void *vector, int32_t bytes,
                                              const void *bias, int32_t first, int32_t end, bool adds,
                                              int16_t *values) {
  const uint32_t start = dsp_address(vector), columns = (uint32_t)matrix->columns;
  return (dsp_lstm_block){
    .vector = start,
    .groups_end = start + (columns & ~3u) * (uint32_t)bytes,
    .vector_end = start + columns * (uint32_t)bytes,
    .apart = matrix->columns,
    .weights = &matrix->weights[first * matrix->columns],
    .bias = bias,
    .values = &values[first],
    .values_end = &values[end],
    .adds = adds,
  };
}

// Four columns, of which LOAD loads the vector's.
#define DSP_LSTM_GROUP(LOAD)                \
  LOAD                                      \
  "ldr.w r11, [r2, r3]\n\t"                 \
  "ldr.w r10, [r2], #4\n\t"                 \
  DSP_ADD_FILTER("r4", "r10")               \
  DSP_ADD_FILTER("r5", "r11")               \
  "ldr.w r11, [r12, r3]\n\t"                \
  "ldr.w r10, [r12], #4\n\t"                \
  DSP_ADD_FILTER("r6", "r10")               \
  DSP_ADD_FILTER("r7", "r11")

// LOAD_BIASES: four sums from r10 on, which it advances. LOAD_GROUP: r8 and r9. LOAD_COLUMN: r8. GROUP_BYTES: of the
// vector, a power of two: by it an odd number of groups is told. REQUANTIZE: of a sum.
#define DSP_LSTM_ROWS(LOAD_BIASES, LOAD_GROUP, LOAD_COLUMN, GROUP_BYTES, REQUANTIZE) \
  "push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"                                  \
  "push {r0}\n\t"                                                                    \
  "mov lr, r0\n"                                                                     \
  "1:\n\t"                                                                           \
  "ldr r10, [lr, #20]\n\t"                                                           \
  "ldr r2, [lr, #16]\n\t"                                                            \
  "ldr r3, [lr, #12]\n\t"                                                            \
  "ldr r1, [lr, #4]\n\t"                                                             \
  "ldr r0, [lr]\n\t"                                                                 \
  LOAD_BIASES                                                                        \
  "str r10, [lr, #20]\n\t"                                                           \
  "add r12, r2, r3, lsl #1\n\t"                                                      \
  "subs r8, r1, r0\n\t"                                                              \
  "beq.w 4f\n\t"                                                                     \
  "tst r8, #" GROUP_BYTES "\n\t"                                                     \
  "bne.w 3f\n\t"                                                                     \
  ".balign 4\n"                                                                      \
  "2:\n\t"                                                                           \
  DSP_LSTM_GROUP(LOAD_GROUP)                                                         \
  "3:\n\t"                                                                           \
  DSP_LSTM_GROUP(LOAD_GROUP)                                                         \
  "cmp r0, r1\n\t"                                                                   \
  "bne.w 2b\n\t"                                                                     \
  "ldr lr, [sp]\n"                                                                   \
  "4:\n\t"                                                                           \
  "ldr r1, [lr, #8]\n\t"                                                             \
  "cmp r0, r1\n\t"                                                                   \
  "beq.w 6f\n"                                                                       \
  "5:\n\t"                                                                           \
  LOAD_COLUMN                                                                        \
  "ldrsb r9, [r2, r3]\n\t"                                                           \
  "ldrsb r10, [r2], #1\n\t"                                                          \
  "mla r5, r8, r9, r5\n\t"                                                           \
  "mla r4, r8, r10, r4\n\t"                                                          \
  "ldrsb r9, [r12, r3]\n\t"                                                          \
  "ldrsb r10, [r12], #1\n\t"                                                         \
  "cmp r0, r1\n\t"                                                                   \
  "mla r7, r8, r9, r7\n\t"                                                           \
  "mla r6, r8, r10, r6\n\t"                                                          \
  "bne.w 5b\n"                                                                       \
  "6:\n\t"                                                                           \
  "add r12, r12, r3\n\t"                                                             \
  "str r12, [lr, #16]\n\t"                                                           \
  "ldr r0, [lr, #32]\n\t"                                                            \
  "ldr r1, [lr, #36]\n\t"                                                            \
  "ldr r8, [lr, #40]\n\t"                                                            \
  "ldr r9, [lr, #44]\n\t"                                                            \
  "ldr r10, [lr, #24]\n\t"                                                           \
  REQUANTIZE("r4") REQUANTIZE("r5") REQUANTIZE("r6") REQUANTIZE("r7")                \
  "cmp r9, #0\n\t"                                                                   \
  "beq.w 7f\n\t"                                                                     \
  "ldrsh r0, [r10]\n\t"                                                              \
  "ldrsh r1, [r10, #2]\n\t"                                                          \
  "ldrsh r2, [r10, #4]\n\t"                                                          \
  "ldrsh r3, [r10, #6]\n\t"                                                          \
  "add r4, r4, r0\n\t"                                                               \
  "add r5, r5, r1\n\t"                                                               \
  "add r6, r6, r2\n\t"                                                               \
  "add r7, r7, r3\n"                                                                 \
  "7:\n\t"                                                                           \
  "ssat r4, #16, r4\n\t"                                                             \
  "ssat r5, #16, r5\n\t"                                                             \
  "ssat r6, #16, r6\n\t"                                                             \
  "ssat r7, #16, r7\n\t"                                                             \
  "pkhbt r4, r4, r5, lsl #16\n\t"                                                    \
  "pkhbt r6, r6, r7, lsl #16\n\t"                                                    \
  "ldr r11, [lr, #28]\n\t"                                                           \
  "str r6, [r10, #4]\n\t"                                                            \
  "str r4, [r10], #8\n\t"                                                            \
  "str r10, [lr, #24]\n\t"                                                           \
  "cmp r10, r11\n\t"                                                                 \
  "bne.w 1b\n\t"                                                                     \
  "add sp, sp, #4\n\t"                                                               \
  "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}"

#endif

#endif
