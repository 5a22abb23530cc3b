// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_rows.h"
#include "plain_multiply.h"

#if PLAIN_THUMB == 2

// r0 end of the vector   r1 to r4 of the rows   r5 index   r6 to r9 sums   r10, r11, r12, lr elements
#define COLUMN(LOAD)              \
  LOAD                            \
  "ldrsb.w r11, [r1, r5]\n\t"     \
  "ldrsb.w r12, [r2, r5]\n\t"     \
  "ldrsb.w lr, [r3, r5]\n\t"      \
  "mla r6, r10, r11, r6\n\t"      \
  "ldrsb.w r11, [r4, r5]\n\t"     \
  "adds.n r5, r5, #1\n\t"         \
  "mla r7, r10, r12, r7\n\t"      \
  "mla r8, r10, lr, r8\n\t"       \
  "mla r9, r10, r11, r9\n\t"

// The first round begins with the column that makes the others whole rounds of four; a column is 38 bytes of code.
#define MULTIPLY(LOAD)                                         \
  "push {r0, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"        \
  "ldm r0, {r0, r1, r2, r3, r4, r5, r6, r7, r8, r9}\n\t"       \
  "and r10, r5, #3\n\t"                                        \
  "adr r11, 1f\n\t"                                            \
  "movs r12, #38\n\t"                                          \
  "mla r10, r10, r12, r11\n\t"                                 \
  "mov pc, r10\n\t"                                            \
  ".balign 4\n"                                                \
  "1:\n\t"                                                     \
  COLUMN(LOAD) COLUMN(LOAD) COLUMN(LOAD) COLUMN(LOAD)          \
  "bne 1b\n\t"                                                 \
  "pop {r0}\n\t"                                               \
  "ldr r5, [r0, #20]\n\t"                                      \
  "sub r1, r1, r5, lsl #2\n\t"                                 \
  "sub r2, r2, r5, lsl #2\n\t"                                 \
  "sub r3, r3, r5, lsl #2\n\t"                                 \
  "sub r4, r4, r5, lsl #2\n\t"                                 \
  "adds r0, r0, #4\n\t"                                        \
  "stm r0, {r1, r2, r3, r4, r5, r6, r7, r8, r9}\n\t"           \
  "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}"

PLAIN_NAKED void plain_multiply_rows_s8(PLAIN_UNUSED plain_rows *rows) {
  __asm__ volatile(MULTIPLY("ldrsb.w r10, [r0, r5]\n\t"));
}

PLAIN_NAKED void plain_multiply_rows_s16(PLAIN_UNUSED plain_rows *rows) {
  __asm__ volatile(MULTIPLY("ldrsh.w r10, [r0, r5, lsl #1]\n\t"));
}

#else

static void move_to_next(plain_rows *rows) {
  for (int32_t i = 0; i < 4; ++i) {
    rows->weights_end[i] -= 4 * rows->minus_columns;
  }
}

// By pairs, of which the smaller cores' registers hold all.
void plain_multiply_rows_s8(plain_rows *rows) {
  for (int32_t i = 0; i < rows->count; i += 2) {
    plain_products products = {
      .patch_end = rows->vector_end,
      .filter0_end = rows->weights_end[i],
      .filter1_end = rows->weights_end[i + 1],
      .minus_columns = rows->minus_columns,
      .sum = { rows->sum[i], rows->sum[i + 1] },
    };
    plain_multiply(&products);
    rows->sum[i] = products.sum[0];
    rows->sum[i + 1] = products.sum[1];
  }
  move_to_next(rows);
}

void plain_multiply_rows_s16(plain_rows *rows) {
  const int16_t *const vector_end = rows->vector_end;
  for (int32_t i = 0; i < rows->count; i += 2) {
    const int8_t *const end0 = rows->weights_end[i], *const end1 = rows->weights_end[i + 1];
    int32_t sum0 = rows->sum[i], sum1 = rows->sum[i + 1];
    for (int32_t k = rows->minus_columns; k != 0; ++k) {
      const int32_t value = vector_end[k];
      sum0 += value * end0[k];
      sum1 += value * end1[k];
    }
    rows->sum[i] = sum0;
    rows->sum[i + 1] = sum1;
  }
  move_to_next(rows);
}

#endif
