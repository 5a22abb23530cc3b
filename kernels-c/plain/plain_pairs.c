// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_assembly.h"
#include "plain_pairs.h"

#if PLAIN_THUMB == 1

// A load of a signed byte takes two registers for its address, so all four ends share one index, which counts up to 0.
//
//   r0, r1 ends of the patches   r2, r3 of the filters   r4 index   r5 to r7 temporary
//   r8, r9 sums of patch 0, r12, lr of patch 1           r10 2^14   r11 minus_channels
#define COLUMN                  \
  "ldrsb r5, [r0, r4]\n\t"      \
  "ldrsb r6, [r2, r4]\n\t"      \
  "mov r7, r5\n\t"              \
  "muls r7, r6, r7\n\t"         \
  "add r8, r7\n\t"              \
  "ldrsb r7, [r3, r4]\n\t"      \
  "muls r5, r7, r5\n\t"         \
  "add r9, r5\n\t"              \
  "ldrsb r5, [r1, r4]\n\t"      \
  "muls r6, r5, r6\n\t"         \
  "add r12, r6\n\t"             \
  "muls r7, r5, r7\n\t"         \
  "add lr, r7\n\t"              \
  "adds r4, #1\n\t"

// The numbers of a channel: r6, r7 halves of its multiplier, r5 -shift, r4 0. r0: struct.
#define CHANNEL(which)                  \
  "mov r1, r11\n\t"                     \
  "lsls r1, r1, #2\n\t"                 \
  "ldr r2, [r0, #28]\n\t"               \
  "ldr r3, [r0, #32]\n\t"               \
  "adds r2, r2, r1\n\t"                 \
  "adds r3, r3, r1\n\t"                 \
  "ldr r7, [r2, #4 * " which "]\n\t"    \
  "ldr r5, [r3, #4 * " which "]\n\t"    \
  PLAIN_HALVES                          \
  "negs r5, r5\n\t"                     \
  "movs r4, #0\n\t"

#define STORE(sum, output, which)                  \
  "mov r1, " sum "\n\t"                            \
  PLAIN_REQUANTIZE_BY_HALVES("add r3, r10\n\t")    \
  PLAIN_CLAMP("#44", "#48", "#52")                 \
  "ldr r2, [r0, " output "]\n\t"                   \
  "add r2, r11\n\t"                                \
  "strb r1, [r2, " which "]\n\t"

// The first round begins with the column that makes the others whole rounds of eight; a column is 28 bytes of code.
PLAIN_NAKED void plain_convolve_pairs(PLAIN_UNUSED plain_pairs *pairs) {
  __asm__ volatile(".syntax unified\n\t"
                   "push {r4, r5, r6, r7, lr}\n\t"
                   "mov r4, r8\n\t"
                   "mov r5, r9\n\t"
                   "mov r6, r10\n\t"
                   "mov r7, r11\n\t"
                   "push {r0, r4, r5, r6, r7}\n\t"
                   "ldr r1, [r0, #20]\n\t"
                   "mov r11, r1\n\t"
                   "movs r1, #1\n\t"
                   "lsls r1, r1, #14\n\t"
                   "mov r10, r1\n"
                   "1:\n\t"
                   "ldr r7, [sp]\n\t"
                   "mov r6, r11\n\t"
                   "lsls r6, r6, #2\n\t"
                   "ldr r5, [r7, #24]\n\t"
                   "adds r5, r5, r6\n\t"
                   "ldm r5!, {r1, r2}\n\t"
                   "mov r8, r1\n\t"
                   "mov r9, r2\n\t"
                   "mov r12, r1\n\t"
                   "mov lr, r2\n\t"
                   "ldm r7!, {r0, r1, r2, r3, r4}\n\t"
                   "movs r5, #7\n\t"
                   "ands r5, r4\n\t"
                   "movs r6, #28\n\t"
                   "muls r5, r6, r5\n\t"
                   "adr r6, 2f\n\t"
                   "adds r5, r5, r6\n\t"
                   "mov pc, r5\n\t"
                   ".balign 4\n"
                   "2:\n\t"
                   COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN
                   "bne 2b\n\t"
                   "ldr r0, [sp]\n\t"
                   "ldr r4, [r0, #16]\n\t"
                   "lsls r4, r4, #1\n\t"
                   "subs r2, r2, r4\n\t"
                   "subs r3, r3, r4\n\t"
                   "str r2, [r0, #8]\n\t"
                   "str r3, [r0, #12]\n\t"
                   CHANNEL("0") STORE("r8", "#36", "#0") STORE("r12", "#40", "#0")
                   CHANNEL("1") STORE("r9", "#36", "#1") STORE("lr", "#40", "#1")
                   "movs r1, #2\n\t"
                   "add r1, r11\n\t"
                   "mov r11, r1\n\t"
                   "cmp r1, #0\n\t"
                   "beq 3f\n\t"
                   "b 1b\n"
                   "3:\n\t"
                   "pop {r0, r4, r5, r6, r7}\n\t"
                   "str r1, [r0, #20]\n\t"
                   "mov r8, r4\n\t"
                   "mov r9, r5\n\t"
                   "mov r10, r6\n\t"
                   "mov r11, r7\n\t"
                   "pop {r4, r5, r6, r7, pc}");
}

#elif PLAIN_THUMB == 2

// r0, r1 ends of the patches   r2, r3 of the filters   r4 index   r5, r6 sums of patch 0, r7, r8 of patch 1
// r9 to r12 bytes              lr struct
#define COLUMN                    \
  "ldrsb.w r9, [r0, r4]\n\t"      \
  "ldrsb.w r10, [r1, r4]\n\t"     \
  "ldrsb.w r11, [r2, r4]\n\t"     \
  "ldrsb.w r12, [r3, r4]\n\t"     \
  "adds.n r4, r4, #1\n\t"         \
  "mla r5, r9, r11, r5\n\t"       \
  "mla r6, r9, r12, r6\n\t"       \
  "mla r7, r10, r11, r7\n\t"      \
  "mla r8, r10, r12, r8\n\t"

#define REQUANTIZE(sum, multiplier, shift)                  \
  PLAIN_REQUANTIZE(sum, multiplier, shift, "r10", "r0")     \
  PLAIN_CUT_AT_MIN(sum, "r11", "r12")

// A column is 34 bytes of code.
PLAIN_NAKED void plain_convolve_pairs(PLAIN_UNUSED plain_pairs *pairs) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "mov lr, r0\n"
                   "1:\n\t"
                   "ldr r9, [lr, #20]\n\t"
                   "ldr r10, [lr, #24]\n\t"
                   "add r10, r10, r9, lsl #2\n\t"
                   "ldrd r5, r6, [r10]\n\t"
                   "ldm lr, {r0, r1, r2, r3, r4}\n\t"
                   "mov r7, r5\n\t"
                   "mov r8, r6\n\t"
                   "and r9, r4, #7\n\t"
                   "adr r10, 2f\n\t"
                   "movs r11, #34\n\t"
                   "mla r9, r9, r11, r10\n\t"
                   "mov pc, r9\n\t"
                   ".balign 4\n"
                   "2:\n\t"
                   COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN
                   "bne 2b\n\t"
                   "ldr r4, [lr, #16]\n\t"
                   "sub r2, r2, r4, lsl #1\n\t"
                   "sub r3, r3, r4, lsl #1\n\t"
                   "strd r2, r3, [lr, #8]\n\t"
                   "ldr r1, [lr, #20]\n\t"
                   "ldrd r2, r4, [lr, #28]\n\t"
                   "add r2, r2, r1, lsl #2\n\t"
                   "add r4, r4, r1, lsl #2\n\t"
                   "ldrd r2, r3, [r2]\n\t"
                   "ldrd r4, r9, [r4]\n\t"
                   "ldrd r10, r11, [lr, #56]\n\t"
                   "ldr r12, [lr, #48]\n\t"
                   "rsb r4, r4, #0\n\t"
                   "rsb r9, r9, #0\n\t"
                   REQUANTIZE("r5", "r2", "r4") REQUANTIZE("r7", "r2", "r4")
                   REQUANTIZE("r6", "r3", "r9") REQUANTIZE("r8", "r3", "r9")
                   "ldrd r2, r3, [lr, #36]\n\t"
                   "add r2, r2, r1\n\t"
                   "add r3, r3, r1\n\t"
                   "strb r5, [r2]\n\t"
                   "strb r6, [r2, #1]\n\t"
                   "strb r7, [r3]\n\t"
                   "strb r8, [r3, #1]\n\t"
                   "adds r1, r1, #2\n\t"
                   "str r1, [lr, #20]\n\t"
                   "bne.w 1b\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#else

static void convolve_pair(const plain_pairs *pairs, int32_t channel) {
  int32_t sum[4] = { pairs->start_end[channel], pairs->start_end[channel + 1], pairs->start_end[channel],
                     pairs->start_end[channel + 1] };
  for (int32_t i = pairs->minus_columns; i != 0; ++i) {
    const int32_t patch0 = pairs->patch0_end[i], patch1 = pairs->patch1_end[i];
    const int32_t filter0 = pairs->filter0_end[i], filter1 = pairs->filter1_end[i];
    sum[0] += patch0 * filter0;
    sum[1] += patch0 * filter1;
    sum[2] += patch1 * filter0;
    sum[3] += patch1 * filter1;
  }
  for (int32_t i = 0; i < 4; ++i) {
    const int32_t at = channel + i % 2;
    const int32_t value = pairs->offset + plain_requantize_taken(sum[i], pairs->multiplier_end[at],
                                                                 pairs->shift_end[at]);
    (i < 2 ? pairs->output0_end : pairs->output1_end)[at] = (int8_t)dmo_clamp(value, pairs->min, pairs->max);
  }
}

void plain_convolve_pairs(plain_pairs *pairs) {
  for (; pairs->minus_channels != 0; pairs->minus_channels += 2) {
    convolve_pair(pairs, pairs->minus_channels);
    pairs->filter0_end -= 2 * pairs->minus_columns;
    pairs->filter1_end -= 2 * pairs->minus_columns;
  }
}

#endif
