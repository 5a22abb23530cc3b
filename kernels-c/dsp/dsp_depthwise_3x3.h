// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One pixel of a depthwise convolution of 3x3 with multiplier 1, in the fast ways, by blocks of four channels. By hand,
// because it takes every register; dsp_depthwise_pixel.h has the same in C.
#ifndef DSP_DEPTHWISE_3X3_H
#define DSP_DEPTHWISE_3X3_H

#include "dsp.h"

#include <stddef.h>

#if DSP_INSTRUCTIONS

// What the assembly reads, in this order; `channel` counts from -channels up to 0, and pointers lie behind the last
// channel.
typedef struct {
  uint32_t input, filter;       // addresses of the first column, whether it lies inside the input or not
  int32_t column, row;          // bytes from one tap of the input to the next; `column` of the filter, too
  uint32_t offsets;
  int32_t channel;
  uint32_t outside;             // bit 0: the first column is, bit 1: the last
  uint32_t rows_code;           // bytes of code of the rows above the input; the assembly makes it an address
  int8_t *output;
  int32_t is_clamped;
  int32_t saturated_min, min;
  int32_t half_offset;
  const dsp_numbers *numbers;   // or NULL, and
  const int32_t *bias, *multiplier, *shift;
} dsp_3x3;

//   r0 input          r1 filter          r2, r3 bytes from one column, row to the next     r4 to r7 sums, then values
//   r8 offsets        r9, r10 input, r11, r12 filter: channels 0 and 2, 1 and 3           lr dsp_3x3
// and after the taps
//   r0 start   r1 multiplier   r2 bias   r12 shift   r3, r8, r10 where they are   r11 half_offset
#define LOAD_TAP(in, weight) "ldr.w r10, " in "\n\tldr.w r12, " weight "\n\t"
#define ADD_TAP                        \
  "sxtab16 r9, r8, r10\n\t"            \
  "sxtab16 r10, r8, r10, ror #8\n\t"   \
  "sxtb16 r11, r12\n\t"              \
  "sxtb16 r12, r12, ror #8\n\t"      \
  "smlabb r4, r9, r11, r4\n\t"         \
  "smlabb r5, r10, r12, r5\n\t"        \
  "smlatt r6, r9, r11, r6\n\t"         \
  "smlatt r7, r10, r12, r7\n\t"
// A row of taps, and on to the next.
#define ROW_INSIDE                                     \
  LOAD_TAP("[r0]", "[r1]") ADD_TAP                     \
  LOAD_TAP("[r0, r2]", "[r1, r2]") ADD_TAP             \
  LOAD_TAP("[r0, r2, lsl #1]", "[r1, r2, lsl #1]")     \
  "add.w r1, r1, r2, lsl #1\n\t"                       \
  "add.w r0, r0, r3\n\t"                               \
  "add.w r1, r1, r2\n\t"                               \
  ADD_TAP
#define ROW_AT_EDGE                                    \
  "bmi.w 5f\n\t"                                       \
  LOAD_TAP("[r0]", "[r1]") ADD_TAP                     \
  "5:\n\t"                                             \
  LOAD_TAP("[r0, r2]", "[r1, r2]") ADD_TAP             \
  "bcs.w 6f\n\t"                                       \
  LOAD_TAP("[r0, r2, lsl #1]", "[r1, r2, lsl #1]")     \
  ADD_TAP                                              \
  "6:\n\t"                                             \
  "add.w r1, r1, r2, lsl #1\n\t"                       \
  "add.w r0, r0, r3\n\t"                               \
  "add.w r1, r1, r2\n\t"
enum { ROW_INSIDE_BYTES = 33 * 4, ROW_AT_EDGE_BYTES = 35 * 4 };

#define REQUANTIZE(sum)                     \
  "add " sum ", r0, " sum ", lsl #1\n\t"    \
  "add r9, r2, " sum ", asr #31\n\t"        \
  "smmlar " sum ", " sum ", r1, r9\n\t"     \
  "asr " sum ", " sum ", r12\n\t"           \
  "ssat " sum ", #8, " sum ", asr #1\n\t"
#define CLAMP(value)                  \
  "sub " value ", " value ", r1\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r2\n\t"
#define TABLE_NUMBERS               \
  "ldr r9, [lr, #20]\n\t"           \
  "ldr r3, [lr, #52]\n\t"           \
  "ldr r11, [lr, #48]\n\t"          \
  "add r3, r3, r9, lsl #3\n\t"
#define TABLE_CHANNEL(sum)     \
  "ldr r0, [r3], #8\n\t"       \
  "ldr r1, [r3, #-4]\n\t"      \
  "and r12, r0, #15\n\t"       \
  "asr r0, r0, #4\n\t"         \
  "lsl r2, r11, r12\n\t"       \
  REQUANTIZE(sum)
#define LAYER_NUMBERS               \
  "ldr r9, [lr, #20]\n\t"           \
  "ldr r3, [lr, #56]\n\t"           \
  "ldr r8, [lr, #60]\n\t"           \
  "ldr r10, [lr, #64]\n\t"          \
  "ldr r11, [lr, #48]\n\t"          \
  "add r3, r3, r9, lsl #2\n\t"      \
  "add r8, r8, r9, lsl #2\n\t"      \
  "add r10, r10, r9, lsl #2\n\t"
#define LAYER_CHANNEL(sum)     \
  "ldr r0, [r3], #4\n\t"       \
  "ldr r1, [r8], #4\n\t"       \
  "ldr r12, [r10], #4\n\t"     \
  "lsl r0, r0, #1\n\t"         \
  "mvn r12, r12\n\t"           \
  "lsl r2, r11, r12\n\t"       \
  REQUANTIZE(sum)
#define MULTIPLY_3X3(numbers, channel)                                               \
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"                 \
                   "mov lr, r0\n\t"                                                  \
                   "ldr r1, [lr, #28]\n\t"                                           \
                   "ldr r3, [lr, #24]\n\t"                                           \
                   "adr.w r2, 2f\n\t"                                                \
                   "cbz r3, 7f\n\t"                                                  \
                   "adr.w r2, 8f\n"                                                  \
                   "7:\n\t"                                                          \
                   "add r1, r1, r2\n\t"                                              \
                   "orr r1, r1, #1\n\t"                                              \
                   "str r1, [lr, #28]\n"                                             \
                   "1:\n\t"                                                          \
                   "ldm lr, {r0, r1, r2, r3, r8, r9, r10, r12}\n\t"                  \
                   "mov r4, #0\n\t"                                                  \
                   "mov r5, #0\n\t"                                                  \
                   "mov r6, #0\n\t"                                                  \
                   "mov r7, #0\n\t"                                                  \
                   "add r0, r0, r9\n\t"                                              \
                   "add r1, r1, r9\n\t"                                              \
                   "lsls r10, r10, #31\n\t"                                          \
                   "bx r12\n\t"                                                      \
                   ".balign 4\n"                                                     \
                   "2:\n\t"                                                          \
                   ROW_INSIDE ROW_INSIDE ROW_INSIDE                                  \
                   "3:\n\t"                                                          \
                   numbers                                                           \
                   channel("r4") channel("r5") channel("r6") channel("r7")           \
                   "ldr r0, [lr, #36]\n\t"                                           \
                   "ldr r9, [lr, #20]\n\t"                                           \
                   "ldr r3, [lr, #32]\n\t"                                           \
                   "cbz r0, 4f\n\t"                                                  \
                   "ldrd r1, r2, [lr, #40]\n\t"                                      \
                   CLAMP("r4") CLAMP("r5") CLAMP("r6") CLAMP("r7")                   \
                   "4:\n\t"                                                          \
                   "bfi r4, r5, #8, #8\n\t"                                          \
                   "bfi r4, r6, #16, #8\n\t"                                         \
                   "bfi r4, r7, #24, #8\n\t"                                         \
                   "str r4, [r3, r9]\n\t"                                            \
                   "adds r9, r9, #4\n\t"                                             \
                   "str r9, [lr, #20]\n\t"                                           \
                   "bne 1b\n\t"                                                      \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n\t"                  \
                   ".balign 4\n"                                                     \
                   "8:\n\t"                                                          \
                   ROW_AT_EDGE ROW_AT_EDGE ROW_AT_EDGE                               \
                   "b.w 3b")

// The argument is in r0, as the procedure call standard says.
DSP_NAKED static void multiply_3x3_table(DSP_UNUSED dsp_3x3 *pixel) {
  MULTIPLY_3X3(TABLE_NUMBERS, TABLE_CHANNEL);
}

DSP_NAKED static void multiply_3x3_layer(DSP_UNUSED dsp_3x3 *pixel) {
  MULTIPLY_3X3(LAYER_NUMBERS, LAYER_CHANNEL);
}

#undef REQUANTIZE
#undef CLAMP

#endif
#endif
