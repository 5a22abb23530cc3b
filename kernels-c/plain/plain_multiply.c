// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_multiply.h"

#if PLAIN_THUMB == 1

// r0 end of the patch   r1, r2 of the filters   r3 index   r4 offset   r5, r6 bytes   r7, r12 sums
#define COLUMN                  \
  "ldrsb r5, [r0, r3]\n\t"      \
  "adds r5, r5, r4\n\t"         \
  "ldrsb r6, [r1, r3]\n\t"      \
  "muls r6, r5, r6\n\t"         \
  "adds r7, r7, r6\n\t"         \
  "ldrsb r6, [r2, r3]\n\t"      \
  "muls r6, r5, r6\n\t"         \
  "add r12, r6\n\t"             \
  "adds r3, #1\n\t"

// The first round begins with the column that makes the others whole rounds of four; a column is 18 bytes of code.
PLAIN_NAKED void plain_multiply(PLAIN_UNUSED plain_products *products) {
  __asm__ volatile(".syntax unified\n\t"
                   "push {r0, r4, r5, r6, r7, lr}\n\t"
                   "ldr r5, [r0, #24]\n\t"
                   "mov r12, r5\n\t"
                   "ldr r7, [r0, #20]\n\t"
                   "ldm r0, {r0, r1, r2, r3, r4}\n\t"
                   "movs r5, #3\n\t"
                   "ands r5, r3\n\t"
                   "movs r6, #18\n\t"
                   "muls r5, r6, r5\n\t"
                   "adr r6, 1f\n\t"
                   "adds r5, r5, r6\n\t"
                   "mov pc, r5\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   COLUMN COLUMN COLUMN COLUMN
                   "bne 1b\n\t"
                   "pop {r0}\n\t"
                   "mov r5, r12\n\t"
                   "str r7, [r0, #20]\n\t"
                   "str r5, [r0, #24]\n\t"
                   "pop {r4, r5, r6, r7, pc}");
}

#elif PLAIN_THUMB == 2

// r1 end of the patch   r2, r3 of the filters   r4 index   r5 offset   r6, r7 sums   r8, r9, r12 bytes
#define COLUMN                  \
  "ldrsb.w r8, [r1, r4]\n\t"    \
  "ldrsb.w r9, [r2, r4]\n\t"    \
  "ldrsb.w r12, [r3, r4]\n\t"   \
  "add.w r8, r8, r5\n\t"        \
  "adds.n r4, r4, #1\n\t"       \
  "mla r6, r8, r9, r6\n\t"      \
  "mla r7, r8, r12, r7\n\t"

// A column is 26 bytes of code.
PLAIN_NAKED void plain_multiply(PLAIN_UNUSED plain_products *products) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9}\n\t"
                   "ldm r0, {r1, r2, r3, r4, r5, r6, r7}\n\t"
                   "and r8, r4, #3\n\t"
                   "adr r9, 1f\n\t"
                   "movs r12, #26\n\t"
                   "mla r8, r8, r12, r9\n\t"
                   "mov pc, r8\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   COLUMN COLUMN COLUMN COLUMN
                   "bne 1b\n\t"
                   "strd r6, r7, [r0, #20]\n\t"
                   "pop {r4, r5, r6, r7, r8, r9}\n\t"
                   "bx lr");
}

#else

void plain_multiply(plain_products *products) {
  for (int32_t i = products->minus_columns; i != 0; ++i) {
    const int32_t value = products->patch_end[i] + products->offset;
    products->sum[0] += value * products->filter0_end[i];
    products->sum[1] += value * products->filter1_end[i];
  }
}

#endif

int32_t plain_sum(const int8_t *weights, int32_t count) {
  int32_t sum = 0;
  for (; count >= 8; count -= 8) {
    sum += weights[0] + weights[1] + weights[2] + weights[3] + weights[4] + weights[5] + weights[6] + weights[7];
    weights += 8;
  }
  for (; count != 0; --count) {
    sum += *weights++;
  }
  return sum;
}
