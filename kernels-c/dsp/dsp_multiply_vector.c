// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_vector.h"

#if DSP_INSTRUCTIONS

//   r0 row   r1 offsets   r2 filters   r3 apart, r12 three times that   r4 to r7 sums
//   r8, r9 columns of the row          r10, r11 columns of a filter     lr groups
#define MULTIPLY_FILTER(sum, filter)    \
  "ldr r11, " filter "\n\t"             \
  "sxtb16 r10, r11\n\t"                \
  "sxtb16 r11, r11, ror #8\n\t"        \
  "smlad " sum ", r8, r10, " sum "\n\t" \
  "smlad " sum ", r9, r11, " sum "\n\t"

// Two arguments are on the stack, as the procedure call standard says.
DSP_NAKED void dsp_multiply_vector_groups(DSP_UNUSED const int8_t *row, DSP_UNUSED uint32_t offsets,
                                          DSP_UNUSED const int8_t *filter, DSP_UNUSED int32_t apart,
                                          DSP_UNUSED int32_t groups, DSP_UNUSED dsp_sums *sums) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldrd lr, r12, [sp, #36]\n\t"
                   "ldm r12, {r4, r5, r6, r7}\n\t"
                   "add r12, r3, r3, lsl #1\n"
                   "1:\n\t"
                   "ldr r9, [r0], #4\n\t"
                   "sxtab16 r8, r1, r9\n\t"
                   "sxtab16 r9, r1, r9, ror #8\n\t"
                   MULTIPLY_FILTER("r5", "[r2, r3]")
                   MULTIPLY_FILTER("r6", "[r2, r3, lsl #1]")
                   MULTIPLY_FILTER("r7", "[r2, r12]")
                   MULTIPLY_FILTER("r4", "[r2], #4")
                   "subs lr, lr, #1\n\t"
                   "bne 1b\n\t"
                   "ldr r12, [sp, #40]\n\t"
                   "stm r12, {r4, r5, r6, r7}\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#endif
