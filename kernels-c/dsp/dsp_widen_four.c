// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_multiply.h"

#if DSP_INSTRUCTIONS

// One group of four places, in registers that can be stored by one instruction.
#define WIDEN(even, odd)                        \
  "sxtab16 " even ", lr, " odd "\n\t"           \
  "sxtab16 " odd ", lr, " odd ", ror #8\n\t"

// r0 rows, r1 from, r2 apart, r3 groups; the last argument is on the stack, as the procedure call standard says.
DSP_NAKED void dsp_widen_four(DSP_UNUSED uint32_t *rows, DSP_UNUSED const int8_t *from, DSP_UNUSED int32_t apart,
                                 DSP_UNUSED int32_t groups, DSP_UNUSED uint32_t offsets) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldr lr, [sp, #36]\n\t"
                   "add r12, r2, r2, lsl #1\n"
                   "1:\n\t"
                   "ldr r7, [r1, r2]\n\t"
                   "ldr r9, [r1, r2, lsl #1]\n\t"
                   "ldr r11, [r1, r12]\n\t"
                   "ldr r5, [r1], #4\n\t"
                   WIDEN("r4", "r5")
                   WIDEN("r6", "r7")
                   WIDEN("r8", "r9")
                   WIDEN("r10", "r11")
                   "subs r3, r3, #1\n\t"
                   "stmia r0!, {r4, r5, r6, r7, r8, r9, r10, r11}\n\t"
                   "bne 1b\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#endif
