// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_assembly.h"
#include "plain_pairs.h"

#if PLAIN_THUMB == 1

// r0 end of the patch   r1, r2 of the filters   r3 index   r4 offset   r5, r6 bytes   r7, r8 sums   r9 minus_channels
#define COLUMN                  \
  "ldrsb r5, [r0, r3]\n\t"      \
  "adds r5, r5, r4\n\t"         \
  "ldrsb r6, [r1, r3]\n\t"      \
  "muls r6, r5, r6\n\t"         \
  "adds r7, r7, r6\n\t"         \
  "ldrsb r6, [r2, r3]\n\t"      \
  "muls r6, r5, r6\n\t"         \
  "add r8, r6\n\t"              \
  "adds r3, #1\n\t"

// The numbers of a channel as PLAIN_REQUANTIZE_BY_HALVES takes them, and its output. r0: struct.
#define STORE(sum, which)                   \
  "mov r1, r9\n\t"                          \
  "lsls r1, r1, #2\n\t"                     \
  "ldr r2, [r0, #28]\n\t"                   \
  "ldr r3, [r0, #32]\n\t"                   \
  "adds r2, r2, r1\n\t"                     \
  "adds r3, r3, r1\n\t"                     \
  "mov r1, " sum "\n\t"                     \
  "ldr r7, [r2, #4 * " which "]\n\t"        \
  "ldr r5, [r3, #4 * " which "]\n\t"        \
  PLAIN_HALVES                              \
  "negs r5, r5\n\t"                         \
  "movs r4, #0\n\t"                         \
  PLAIN_REQUANTIZE_BY_HALVES("movs r2, #128\n\tlsls r2, r2, #7\n\tadds r3, r3, r2\n\t") \
  PLAIN_CLAMP("#44", "#48", "#52")          \
  "ldr r2, [r0, #36]\n\t"                   \
  "add r2, r9\n\t"                          \
  "strb r1, [r2, #" which "]\n\t"

// The first round begins with the column that makes the others whole rounds of four; a column is 18 bytes of code.
PLAIN_NAKED void plain_convolve_single(PLAIN_UNUSED plain_pairs *pairs) {
  __asm__ volatile(".syntax unified\n\t"
                   "push {r4, r5, r6, r7, lr}\n\t"
                   "mov r4, r8\n\t"
                   "mov r5, r9\n\t"
                   "push {r0, r4, r5}\n\t"
                   "ldr r1, [r0, #20]\n\t"
                   "mov r9, r1\n"
                   "1:\n\t"
                   "ldr r6, [sp]\n\t"
                   "mov r5, r9\n\t"
                   "lsls r5, r5, #2\n\t"
                   "ldr r4, [r6, #24]\n\t"
                   "adds r5, r5, r4\n\t"
                   "ldr r7, [r5]\n\t"
                   "ldr r5, [r5, #4]\n\t"
                   "mov r8, r5\n\t"
                   "ldr r0, [r6]\n\t"
                   "ldr r1, [r6, #8]\n\t"
                   "ldr r2, [r6, #12]\n\t"
                   "ldr r3, [r6, #16]\n\t"
                   "ldr r4, [r6, #64]\n\t"
                   "movs r5, #3\n\t"
                   "ands r5, r3\n\t"
                   "movs r6, #18\n\t"
                   "muls r5, r6, r5\n\t"
                   "adr r6, 2f\n\t"
                   "adds r5, r5, r6\n\t"
                   "mov pc, r5\n\t"
                   ".balign 4\n"
                   "2:\n\t"
                   COLUMN COLUMN COLUMN COLUMN
                   "bne 2b\n\t"
                   "ldr r0, [sp]\n\t"
                   "ldr r4, [r0, #16]\n\t"
                   "lsls r4, r4, #1\n\t"
                   "subs r1, r1, r4\n\t"
                   "subs r2, r2, r4\n\t"
                   "str r1, [r0, #8]\n\t"
                   "str r2, [r0, #12]\n\t"
                   STORE("r7", "0") STORE("r8", "1")
                   "movs r1, #2\n\t"
                   "add r1, r9\n\t"
                   "mov r9, r1\n\t"
                   "cmp r1, #0\n\t"
                   "beq 3f\n\t"
                   "b 1b\n"
                   "3:\n\t"
                   "pop {r0, r4, r5}\n\t"
                   "str r1, [r0, #20]\n\t"
                   "mov r8, r4\n\t"
                   "mov r9, r5\n\t"
                   "pop {r4, r5, r6, r7, pc}");
}

#elif PLAIN_THUMB == 2

// r0 struct     r1 end of the patch     r2, r3 of the filters     r4 index     r5 offset     r6, r7 sums
// r8 to r12 bytes, then temporary       lr minus_channels
#define COLUMN                    \
  "ldrsb.w r8, [r1, r4]\n\t"      \
  "ldrsb.w r9, [r2, r4]\n\t"      \
  "ldrsb.w r12, [r3, r4]\n\t"     \
  "add.w r8, r8, r5\n\t"          \
  "adds.n r4, r4, #1\n\t"         \
  "mla r6, r8, r9, r6\n\t"        \
  "mla r7, r8, r12, r7\n\t"

#define REQUANTIZE(sum, multiplier, shift)                 \
  "rsb " shift ", " shift ", #0\n\t"                       \
  PLAIN_REQUANTIZE(sum, multiplier, shift, "r4", "r1")     \
  PLAIN_CUT_AT_MIN(sum, "r5", "r12")

// A column is 26 bytes of code.
PLAIN_NAKED void plain_convolve_single(PLAIN_UNUSED plain_pairs *pairs) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldr lr, [r0, #20]\n"
                   "1:\n\t"
                   "ldr r6, [r0, #24]\n\t"
                   "ldr r1, [r0]\n\t"
                   "ldr r5, [r0, #64]\n\t"
                   "add r6, r6, lr, lsl #2\n\t"
                   "ldrd r6, r7, [r6]\n\t"
                   "ldrd r2, r3, [r0, #8]\n\t"
                   "ldr r4, [r0, #16]\n\t"
                   "adr r9, 2f\n\t"
                   "and r8, r4, #3\n\t"
                   "movs r12, #26\n\t"
                   "mla r8, r8, r12, r9\n\t"
                   "mov pc, r8\n\t"
                   ".balign 4\n"
                   "2:\n\t"
                   COLUMN COLUMN COLUMN COLUMN
                   "bne 2b\n\t"
                   "ldr r4, [r0, #16]\n\t"
                   "sub r2, r2, r4, lsl #1\n\t"
                   "sub r3, r3, r4, lsl #1\n\t"
                   "strd r2, r3, [r0, #8]\n\t"
                   "ldrd r2, r3, [r0, #28]\n\t"
                   "add r2, r2, lr, lsl #2\n\t"
                   "add r3, r3, lr, lsl #2\n\t"
                   "ldrd r8, r9, [r2]\n\t"
                   "ldrd r10, r11, [r3]\n\t"
                   "ldrd r4, r5, [r0, #56]\n\t"
                   "ldr r12, [r0, #48]\n\t"
                   "ldr r2, [r0, #36]\n\t"
                   REQUANTIZE("r6", "r8", "r10") REQUANTIZE("r7", "r9", "r11")
                   "add r2, r2, lr\n\t"
                   "strb r6, [r2]\n\t"
                   "strb r7, [r2, #1]\n\t"
                   "adds lr, lr, #2\n\t"
                   "bne.w 1b\n\t"
                   "str lr, [r0, #20]\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#else

void plain_convolve_single(plain_pairs *pairs) {
  for (; pairs->minus_channels != 0; pairs->minus_channels += 2) {
    const int32_t channel = pairs->minus_channels;
    int32_t sum[2] = { pairs->start_end[channel], pairs->start_end[channel + 1] };
    for (int32_t i = pairs->minus_columns; i != 0; ++i) {
      const int32_t value = pairs->patch0_end[i] + pairs->input_offset;
      sum[0] += value * pairs->filter0_end[i];
      sum[1] += value * pairs->filter1_end[i];
    }
    for (int32_t i = 0; i < 2; ++i) {
      const int32_t at = channel + i;
      const int32_t value = pairs->offset + plain_requantize_taken(sum[i], pairs->multiplier_end[at],
                                                                   pairs->shift_end[at]);
      pairs->output0_end[at] = (int8_t)dmo_clamp(value, pairs->min, pairs->max);
    }
    pairs->filter0_end -= 2 * pairs->minus_columns;
    pairs->filter1_end -= 2 * pairs->minus_columns;
  }
}

#endif
