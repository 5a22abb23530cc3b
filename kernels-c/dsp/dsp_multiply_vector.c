// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_vector.h"
#include "dsp_vector_group.h"

#if DSP_INSTRUCTIONS

// Registers as in dsp_vector_group.h; the end of the row is on the stack.
// Two arguments are on the stack, as the procedure call standard says.
DSP_NAKED void dsp_multiply_vector_groups(DSP_UNUSED const int8_t *row, DSP_UNUSED uint32_t offsets,
                                          DSP_UNUSED const int8_t *filter, DSP_UNUSED int32_t apart,
                                          DSP_UNUSED int32_t groups, DSP_UNUSED dsp_sums *sums) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldrd lr, r12, [sp, #36]\n\t"
                   "ldm r12, {r4, r5, r6, r7}\n\t"
                   "add r12, r0, lr, lsl #2\n\t"
                   "push {r12}\n\t"
                   "add r12, r2, r3, lsl #1\n\t"
                   "tst lr, #1\n\t"
                   "bne.w 2f\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   DSP_MULTIPLY_GROUP
                   "2:\n\t"
                   DSP_MULTIPLY_GROUP
                   "ldr r10, [sp]\n\t"
                   "cmp r0, r10\n\t"
                   "bne 1b\n\t"
                   "add sp, sp, #4\n\t"
                   "ldr r12, [sp, #40]\n\t"
                   "stm r12, {r4, r5, r6, r7}\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#endif
