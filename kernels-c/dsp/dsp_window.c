// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_window.h"

#if DSP_INSTRUCTIONS

// The stack holds how many rows are left, and the window's address.
//
//   r0 input   r1 filter   r2, r3 bytes from one column to the next   r4 to r7 sums, then values   r8 offsets
//   r9, r10 input, r11, r12 filter: channels 0 and 2, 1 and 3         lr columns that are left
// and after the taps
//   lr window   r0, r1, r2 where bias, multiplier and shift are   r3 half_offset   r8 bias   r9 multiplier   r10 shift
//   r11 temporary
#define REQUANTIZE(sum)                       \
  "ldr r8, [r0], #4\n\t"                      \
  "ldr r9, [r1], #4\n\t"                      \
  "ldr r10, [r2], #4\n\t"                     \
  "add " sum ", " sum ", r8\n\t"              \
  "mvn r10, r10\n\t"                          \
  "lsl r11, r3, r10\n\t"                      \
  "lsl " sum ", " sum ", #1\n\t"              \
  "add r11, r11, " sum ", asr #31\n\t"        \
  "smmlar " sum ", " sum ", r9, r11\n\t"      \
  "asr " sum ", " sum ", r10\n\t"             \
  "ssat " sum ", #8, " sum ", asr #1\n\t"
#define CLAMP(value)                  \
  "sub " value ", " value ", r8\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r9\n\t"

// The argument is in r0, as the procedure call standard says.
DSP_NAKED void dsp_multiply_window(DSP_UNUSED dsp_window *window) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "mov lr, r0\n\t"
                   "push {r0, r1}\n\t"
                   "str r0, [sp, #4]\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   "ldr r9, [lr, #24]\n\t"
                   "ldm lr, {r0, r1, r2, r3, r8}\n\t"
                   "str r9, [sp]\n\t"
                   "movs r4, #0\n\t"
                   "movs r5, #0\n\t"
                   "movs r6, #0\n\t"
                   "movs r7, #0\n\t"
                   "ldr lr, [lr, #20]\n\t"
                   ".balign 4\n"
                   "2:\n\t"
                   "ldr.w r10, [r0]\n\t"
                   "ldr.w r12, [r1]\n\t"
                   "add.w r0, r0, r2\n\t"
                   "add.w r1, r1, r3\n\t"
                   "sxtab16 r9, r8, r10\n\t"
                   "sxtab16 r10, r8, r10, ror #8\n\t"
                   "sxtb16 r11, r12\n\t"
                   "sxtb16 r12, r12, ror #8\n\t"
                   "smlabb r4, r9, r11, r4\n\t"
                   "smlabb r5, r10, r12, r5\n\t"
                   "smlatt r6, r9, r11, r6\n\t"
                   "smlatt r7, r10, r12, r7\n\t"
                   "subs.w lr, lr, #1\n\t"
                   "bne.w 2b\n\t"
                   "ldr r9, [sp]\n\t"
                   "ldr lr, [sp, #4]\n\t"
                   "subs r9, r9, #1\n\t"
                   "beq.w 3f\n\t"
                   "str r9, [sp]\n\t"
                   "ldr r11, [lr, #28]\n\t"
                   "ldr r12, [lr, #32]\n\t"
                   "ldr lr, [lr, #20]\n\t"
                   "add r0, r0, r11\n\t"
                   "add r1, r1, r12\n\t"
                   "b.w 2b\n"
                   "3:\n\t"
                   "ldr r0, [lr, #44]\n\t"
                   "ldr r1, [lr, #48]\n\t"
                   "ldr r2, [lr, #52]\n\t"
                   "ldr r3, [lr, #56]\n\t"
                   REQUANTIZE("r4") REQUANTIZE("r5") REQUANTIZE("r6") REQUANTIZE("r7")
                   "str r0, [lr, #44]\n\t"
                   "str r1, [lr, #48]\n\t"
                   "str r2, [lr, #52]\n\t"
                   "ldr r8, [lr, #60]\n\t"
                   "ldr r9, [lr, #64]\n\t"
                   "ldr r0, [lr]\n\t"
                   "ldr r1, [lr, #4]\n\t"
                   "ldr r2, [lr, #36]\n\t"
                   "ldr r3, [lr, #40]\n\t"
                   CLAMP("r4") CLAMP("r5") CLAMP("r6") CLAMP("r7")
                   "bfi r4, r5, #8, #8\n\t"
                   "bfi r4, r6, #16, #8\n\t"
                   "bfi r4, r7, #24, #8\n\t"
                   "adds r0, r0, #4\n\t"
                   "adds r1, r1, #4\n\t"
                   "str r4, [r2], #4\n\t"
                   "str r0, [lr]\n\t"
                   "str r1, [lr, #4]\n\t"
                   "str r2, [lr, #36]\n\t"
                   "cmp r2, r3\n\t"
                   "bne.w 1b\n\t"
                   "add sp, sp, #8\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#endif
