// SPDX-License-Identifier: MIT OR Apache-2.0
#include "packed_lines.h"

#if DSP_INSTRUCTIONS

// One group of a window, in registers that can be stored by one instruction.
#define WIDEN(even, odd)              \
  "sxtab16 " even ", lr, " odd "\n\t" \
  "sxtab16 " odd ", lr, " odd ", ror #8\n\t"

// r0 rows, r1 from, r2 apart, r3 groups that are left; further arguments are on the stack, as the procedure call
// standard says: offsets, lines, skip.
DSP_NAKED void packed_widen_lines(DSP_UNUSED uint32_t *rows, DSP_UNUSED const int8_t *from, DSP_UNUSED int32_t apart,
                                  DSP_UNUSED int32_t groups, DSP_UNUSED uint32_t offsets, DSP_UNUSED int32_t lines,
                                  DSP_UNUSED int32_t skip) {
  __asm__ volatile("push {r3, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldr lr, [sp, #40]\n\t"
                   "add r12, r2, r2, lsl #1\n\t"
                   ".balign 4\n"
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
                   "bne.w 1b\n\t"
                   "ldr r5, [sp, #44]\n\t"
                   "ldr r4, [sp, #48]\n\t"
                   "ldr r3, [sp]\n\t"
                   "subs r5, r5, #1\n\t"
                   "str r5, [sp, #44]\n\t"
                   "add r1, r1, r4\n\t"
                   "bne.w 1b\n\t"
                   "pop {r3, r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#else

void packed_widen_lines(uint32_t *rows, const int8_t *from, int32_t apart, int32_t groups, uint32_t offsets,
                        int32_t lines, int32_t skip) {
  for (; lines != 0; --lines) {
    for (int32_t group = 0; group < groups; ++group) {
      for (int32_t i = 0; i < DSP_ROWS; ++i) {
        DSP_WIDEN_GROUP(&rows[2 * i], 0, dsp_load4(&from[i * apart]), offsets, false);
      }
      rows += DSP_GROUP_WORDS;
      from += DSP_GROUP_COLUMNS;
    }
    from += skip;
  }
}

#endif

void packed_widen_three_columns(uint32_t *rows, const int8_t *line, int32_t left, const packed_columns *columns) {
  if (columns->outside.left || columns->outside.right) {
    dsp_widen_three_columns(rows, line, left, columns->depth, columns->offsets, true, columns->outside);
  } else {
    dsp_widen_three_columns(rows, line, left, columns->depth, columns->offsets, false, columns->outside);
  }
}
