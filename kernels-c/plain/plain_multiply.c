// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_multiply.h"

#if PLAIN_THUMB == 1

// A load of a signed byte takes two registers for its address, so all four ends share one index, which counts up to 0.
//
//   r0, r1 ends of the patches   r2, r3 of the filters   r4 index   r5 to r7 temporary   r8, r9, r12, lr sums
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

// The first round begins with the column that makes the others whole rounds of eight; a column is 28 bytes of code.
PLAIN_NAKED void plain_multiply_two(PLAIN_UNUSED plain_products *products) {
  __asm__ volatile(".syntax unified\n\t"
                   "push {r4, r5, r6, r7, lr}\n\t"
                   "mov r4, r8\n\t"
                   "mov r5, r9\n\t"
                   "adds r0, #20\n\t"
                   "push {r0, r4, r5}\n\t"
                   "ldm r0!, {r4, r5, r6, r7}\n\t"
                   "mov r8, r4\n\t"
                   "mov r9, r5\n\t"
                   "mov r12, r6\n\t"
                   "mov lr, r7\n\t"
                   "subs r0, #36\n\t"
                   "ldm r0, {r0, r1, r2, r3, r4}\n\t"
                   "movs r5, #7\n\t"
                   "ands r5, r4\n\t"
                   "movs r6, #28\n\t"
                   "muls r5, r6, r5\n\t"
                   "adr r6, 1f\n\t"
                   "adds r5, r6\n\t"
                   "mov pc, r5\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN
                   "bne 1b\n\t"
                   "pop {r0, r1, r2}\n\t"
                   "mov r4, r8\n\t"
                   "mov r5, r9\n\t"
                   "mov r6, r12\n\t"
                   "mov r7, lr\n\t"
                   "stm r0!, {r4, r5, r6, r7}\n\t"
                   "mov r8, r1\n\t"
                   "mov r9, r2\n\t"
                   "pop {r4, r5, r6, r7, pc}");
}

#elif PLAIN_THUMB == 2

// r0, r1 ends of the patches   r2, r3 of the filters   r4 index   r5, r6, r7, r8 sums   r9 to r12 bytes
#define COLUMN                    \
  "ldrsb.w r9, [r0, r4]\n\t"      \
  "ldrsb.w r10, [r1, r4]\n\t"     \
  "ldrsb.w r11, [r2, r4]\n\t"     \
  "ldrsb.w r12, [r3, r4]\n\t"     \
  "adds r4, r4, #1\n\t"           \
  "mla r5, r9, r11, r5\n\t"       \
  "mla r6, r9, r12, r6\n\t"       \
  "mla r7, r10, r11, r7\n\t"      \
  "mla r8, r10, r12, r8\n\t"

// A column is 34 bytes of code.
PLAIN_NAKED void plain_multiply_two(PLAIN_UNUSED plain_products *products) {
  __asm__ volatile("push {r0, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldm r0, {r0, r1, r2, r3, r4, r5, r6, r7, r8}\n\t"
                   "and r9, r4, #7\n\t"
                   "adr r10, 1f\n\t"
                   "movs r11, #34\n\t"
                   "mla r9, r9, r11, r10\n\t"
                   "mov pc, r9\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN
                   "bne 1b\n\t"
                   "pop {r0}\n\t"
                   "add r0, r0, #20\n\t"
                   "stm r0, {r5, r6, r7, r8}\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#else

void plain_multiply_two(plain_products *products) {
  for (int32_t i = products->minus_columns; i != 0; ++i) {
    const int32_t patch0 = products->patch0_end[i], patch1 = products->patch1_end[i];
    const int32_t filter0 = products->filter0_end[i], filter1 = products->filter1_end[i];
    products->sum[0] += patch0 * filter0;
    products->sum[1] += patch0 * filter1;
    products->sum[2] += patch1 * filter0;
    products->sum[3] += patch1 * filter1;
  }
}

#endif

void plain_multiply_one(plain_products *products, int32_t offset) {
  const int8_t *const patch_end = products->patch0_end;
  const int8_t *const filter0_end = products->filter0_end, *const filter1_end = products->filter1_end;
  int32_t sum0 = products->sum[0], sum1 = products->sum[1];
  for (int32_t i = products->minus_columns; i != 0; ++i) {
    const int32_t value = patch_end[i] + offset;
    sum0 += value * filter0_end[i];
    sum1 += value * filter1_end[i];
  }
  products->sum[0] = sum0;
  products->sum[1] = sum1;
}

int32_t plain_sum(const int8_t *weights, int32_t count) {
  const int8_t *const end = weights + count;
  int32_t sum = 0;
  for (int32_t i = -count; i != 0; ++i) {
    sum += end[i];
  }
  return sum;
}
