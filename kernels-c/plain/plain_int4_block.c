// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_int4.h"
#include "plain_int4_block.h"

#if PLAIN_THUMB == 1

// Loads have constant offsets, so that pointers move on once for four columns. For two patches a byte is loaded for each
// of its weights, as registers are few.
//
//   r0, r1 patches   r2, r3 filters   r4, r5 bytes of the patches   r6 weight   r7 product   r8 to r11 sums
//   r12 end of patch 0
#define LOWER(filter, at)                  \
  "ldrb r6, [" filter ", #" at "]\n\t"     \
  "lsls r6, r6, #28\n\t"                   \
  "asrs r6, r6, #28\n\t"
#define UPPER(filter, at)                  \
  "ldrb r6, [" filter ", #" at "]\n\t"     \
  "lsls r6, r6, #24\n\t"                   \
  "asrs r6, r6, #28\n\t"
#define VALUES(column)                     \
  "ldrb r4, [r0, #" column "]\n\t"         \
  "ldrb r5, [r1, #" column "]\n\t"         \
  "sxtb r4, r4\n\t"                        \
  "sxtb r5, r5\n\t"
#define ADD(sum0, sum1)                    \
  "mov r7, r6\n\t"                         \
  "muls r7, r4, r7\n\t"                    \
  "add " sum0 ", r7\n\t"                   \
  "muls r6, r5, r6\n\t"                    \
  "add " sum1 ", r6\n\t"
// Two columns and the bytes of the filters that hold their weights.
#define TWO_JOINED(column0, column1, byte, next)                \
  VALUES(column0)                                               \
  LOWER("r2", byte) ADD("r8", "r9")                             \
  LOWER("r3", byte) ADD("r10", "r11")                           \
  VALUES(column1)                                               \
  UPPER("r2", byte) ADD("r8", "r9")                             \
  UPPER("r3", byte) ADD("r10", "r11")
#define TWO_SPLIT(column0, column1, byte, next)                 \
  VALUES(column0)                                               \
  LOWER("r2", byte) ADD("r8", "r9")                             \
  UPPER("r3", byte) ADD("r10", "r11")                           \
  VALUES(column1)                                               \
  UPPER("r2", byte) ADD("r8", "r9")                             \
  LOWER("r3", next) ADD("r10", "r11")
// Of one patch: r1 offset, r4, r5 bytes of two columns.
#define COLUMNS(column0, column1)          \
  "ldrb r4, [r0, #" column0 "]\n\t"        \
  "ldrb r5, [r0, #" column1 "]\n\t"        \
  "sxtb r4, r4\n\t"                        \
  "sxtb r5, r5\n\t"                        \
  "adds r4, r4, r1\n\t"                    \
  "adds r5, r5, r1\n\t"
#define ADD_BYTE(filter, at, sum)          \
  "ldrb r6, [" filter ", #" at "]\n\t"     \
  "lsls r7, r6, #28\n\t"                   \
  "sxtb r6, r6\n\t"                        \
  "asrs r7, r7, #28\n\t"                   \
  "asrs r6, r6, #4\n\t"                    \
  "muls r7, r4, r7\n\t"                    \
  "muls r6, r5, r6\n\t"                    \
  "add " sum ", r7\n\t"                    \
  "add " sum ", r6\n\t"
#define ADD_ONE(value, sum)                \
  "muls r6, " value ", r6\n\t"             \
  "add " sum ", r6\n\t"
#define ONE_JOINED(column0, column1, byte, next)                \
  COLUMNS(column0, column1)                                     \
  ADD_BYTE("r2", byte, "r8")                                    \
  ADD_BYTE("r3", byte, "r9")
#define ONE_SPLIT(column0, column1, byte, next)                 \
  COLUMNS(column0, column1)                                     \
  ADD_BYTE("r2", byte, "r8")                                    \
  UPPER("r3", byte) ADD_ONE("r4", "r9")                         \
  LOWER("r3", next) ADD_ONE("r5", "r9")

// Where the number of pairs is odd the first round begins with its second pair. `at`: of what r1 holds in the struct;
// `back` and `on` move it by two columns back and by four on, if it is a patch.
#define MULTIPLY_PAIRS(at, back, on, two)                    \
  __asm__ volatile(".syntax unified\n\t"                     \
                   "push {r4, r5, r6, r7, lr}\n\t"           \
                   "mov r4, r8\n\t"                          \
                   "mov r5, r9\n\t"                          \
                   "mov r6, r10\n\t"                         \
                   "mov r7, r11\n\t"                         \
                   "push {r0, r4, r5, r6, r7}\n\t"           \
                   "mov r7, r0\n\t"                          \
                   "adds r7, r7, #16\n\t"                    \
                   "ldm r7!, {r1, r2, r3, r4, r5}\n\t"       \
                   "mov r12, r1\n\t"                         \
                   "mov r8, r2\n\t"                          \
                   "mov r9, r3\n\t"                          \
                   "mov r10, r4\n\t"                         \
                   "mov r11, r5\n\t"                         \
                   "ldr r1, [r0, #" at "]\n\t"               \
                   "ldr r2, [r0, #8]\n\t"                    \
                   "ldr r3, [r0, #12]\n\t"                   \
                   "ldr r0, [r0]\n\t"                        \
                   "mov r4, r12\n\t"                         \
                   "subs r4, r4, r0\n\t"                     \
                   "lsls r4, r4, #30\n\t"                    \
                   "bpl 1f\n\t"                              \
                   "subs r0, #2\n\t"                         \
                   back                                      \
                   "subs r2, #1\n\t"                         \
                   "subs r3, #1\n\t"                         \
                   "b 2f\n"                                  \
                   "1:\n\t"                                  \
                   two("0", "1", "0", "1")                   \
                   "2:\n\t"                                  \
                   two("2", "3", "1", "2")                   \
                   "adds r0, #4\n\t"                         \
                   on                                        \
                   "adds r2, #2\n\t"                         \
                   "adds r3, #2\n\t"                         \
                   "cmp r0, r12\n\t"                         \
                   "bne 1b\n\t"                              \
                   "pop {r7}\n\t"                            \
                   "adds r7, r7, #20\n\t"                    \
                   "mov r2, r8\n\t"                          \
                   "mov r3, r9\n\t"                          \
                   "mov r4, r10\n\t"                         \
                   "mov r5, r11\n\t"                         \
                   "stm r7!, {r2, r3, r4, r5}\n\t"           \
                   "pop {r4, r5, r6, r7}\n\t"                \
                   "mov r8, r4\n\t"                          \
                   "mov r9, r5\n\t"                          \
                   "mov r10, r6\n\t"                         \
                   "mov r11, r7\n\t"                         \
                   "pop {r4, r5, r6, r7, pc}")

#elif PLAIN_THUMB == 2

// r0, r1 patches   r2, r3 filters   r4 to r7 sums   r8, r9 bytes of the filters   r10, r11 of the patches   r12 weight
// lr end of patch 0
#define ADD(weight, sum0, sum1)                       \
  "mla " sum0 ", r10, " weight ", " sum0 "\n\t"       \
  "mla " sum1 ", r11, " weight ", " sum1 "\n\t"
#define TWO_JOINED                                    \
  "ldrsb r8, [r2], #1\n\t"                            \
  "ldrsb r9, [r3], #1\n\t"                            \
  "ldrsb r10, [r0], #1\n\t"                           \
  "ldrsb r11, [r1], #1\n\t"                           \
  "sbfx r12, r8, #0, #4\n\t"                          \
  ADD("r12", "r4", "r5")                              \
  "sbfx r12, r9, #0, #4\n\t"                          \
  ADD("r12", "r6", "r7")                              \
  "ldrsb r10, [r0], #1\n\t"                           \
  "ldrsb r11, [r1], #1\n\t"                           \
  "asr.w r8, r8, #4\n\t"                              \
  ADD("r8", "r4", "r5")                               \
  "asr.w r9, r9, #4\n\t"                              \
  ADD("r9", "r6", "r7")
#define TWO_SPLIT                                     \
  "ldrsb r8, [r2], #1\n\t"                            \
  "ldrsb r9, [r3], #1\n\t"                            \
  "ldrsb r10, [r0], #1\n\t"                           \
  "ldrsb r11, [r1], #1\n\t"                           \
  "sbfx r12, r8, #0, #4\n\t"                          \
  ADD("r12", "r4", "r5")                              \
  "asr.w r9, r9, #4\n\t"                              \
  ADD("r9", "r6", "r7")                               \
  "ldrsb.w r9, [r3]\n\t"                              \
  "ldrsb r10, [r0], #1\n\t"                           \
  "ldrsb r11, [r1], #1\n\t"                           \
  "asr.w r8, r8, #4\n\t"                              \
  ADD("r8", "r4", "r5")                               \
  "sbfx r9, r9, #0, #4\n\t"                           \
  ADD("r9", "r6", "r7")
// Of one patch: r1 offset.
#define VALUES                                        \
  "ldrsb r8, [r2], #1\n\t"                            \
  "ldrsb r9, [r3], #1\n\t"                            \
  "ldrsb r10, [r0], #1\n\t"                           \
  "ldrsb r11, [r0], #1\n\t"                           \
  "add.w r10, r10, r1\n\t"                            \
  "add.w r11, r11, r1\n\t"                            \
  "sbfx r12, r8, #0, #4\n\t"                          \
  "mla r4, r10, r12, r4\n\t"
#define ONE_JOINED                                    \
  VALUES                                              \
  "sbfx r12, r9, #0, #4\n\t"                          \
  "mla r5, r10, r12, r5\n\t"                          \
  "asr.w r8, r8, #4\n\t"                              \
  "mla r4, r11, r8, r4\n\t"                           \
  "asr.w r9, r9, #4\n\t"                              \
  "mla r5, r11, r9, r5\n\t"
#define ONE_SPLIT                                     \
  VALUES                                              \
  "asr.w r9, r9, #4\n\t"                              \
  "mla r5, r10, r9, r5\n\t"                           \
  "ldrsb.w r9, [r3]\n\t"                              \
  "asr.w r8, r8, #4\n\t"                              \
  "mla r4, r11, r8, r4\n\t"                           \
  "sbfx r9, r9, #0, #4\n\t"                           \
  "mla r5, r11, r9, r5\n\t"

// Where the number of pairs is odd the first round begins with its second pair. `load`: what r1 holds.
#define MULTIPLY_PAIRS(load, two)                                        \
  __asm__ volatile("push {r0, r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t" \
                   "ldrd r4, r5, [r0, #20]\n\t"                          \
                   "ldrd r6, r7, [r0, #28]\n\t"                          \
                   "ldrd r2, r3, [r0, #8]\n\t"                           \
                   "ldr lr, [r0, #16]\n\t"                               \
                   load                                                  \
                   "ldr r0, [r0]\n\t"                                    \
                   "sub r12, lr, r0\n\t"                                 \
                   "tst r12, #2\n\t"                                     \
                   "bne.w 2f\n\t"                                        \
                   ".balign 4\n"                                         \
                   "1:\n\t"                                              \
                   two                                                   \
                   "2:\n\t"                                              \
                   two                                                   \
                   "cmp r0, lr\n\t"                                      \
                   "bne.w 1b\n\t"                                        \
                   "pop {r0}\n\t"                                        \
                   "strd r4, r5, [r0, #20]\n\t"                          \
                   "strd r6, r7, [r0, #28]\n\t"                          \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}")
#endif

#if PLAIN_THUMB != 0

#if PLAIN_THUMB == 2
#define MULTIPLY_TWO(two) MULTIPLY_PAIRS("ldr r1, [r0, #4]\n\t", two)
#define MULTIPLY_ONE(two) MULTIPLY_PAIRS("ldr r1, [r0, #36]\n\t", two)
#else
#define MULTIPLY_TWO(two) MULTIPLY_PAIRS("4", "subs r1, #2\n\t", "adds r1, #4\n\t", two)
#define MULTIPLY_ONE(two) MULTIPLY_PAIRS("36", "", "", two)
#endif

PLAIN_NAKED void plain_multiply_two_joined(PLAIN_UNUSED plain_int4_block *block) {
  MULTIPLY_TWO(TWO_JOINED);
}

PLAIN_NAKED void plain_multiply_two_split(PLAIN_UNUSED plain_int4_block *block) {
  MULTIPLY_TWO(TWO_SPLIT);
}

PLAIN_NAKED void plain_multiply_one_joined(PLAIN_UNUSED plain_int4_block *block) {
  MULTIPLY_ONE(ONE_JOINED);
}

PLAIN_NAKED void plain_multiply_one_split(PLAIN_UNUSED plain_int4_block *block) {
  MULTIPLY_ONE(ONE_SPLIT);
}

#else

static void add_patch(plain_int4_block *block, const int8_t *patch, int32_t offset, bool is_split, int32_t *sum0,
                      int32_t *sum1) {
  const int32_t columns = (int32_t)(block->patch0_end - block->patch0);
  for (int32_t i = 0; i < columns; ++i) {
    const int32_t value = patch[i] + offset;
    // Sums that begin near the ends of 32 bits may leave them and come back.
    *sum0 = (int32_t)((uint32_t)*sum0 + (uint32_t)(value * plain_int4_at(block->filter0, i)));
    *sum1 = (int32_t)((uint32_t)*sum1 + (uint32_t)(value * plain_int4_at(block->filter1, is_split ? i + 1 : i)));
  }
}

void plain_multiply_two_joined(plain_int4_block *block) {
  add_patch(block, block->patch0, 0, false, &block->sums[0], &block->sums[2]);
  add_patch(block, block->patch1, 0, false, &block->sums[1], &block->sums[3]);
}

void plain_multiply_two_split(plain_int4_block *block) {
  add_patch(block, block->patch0, 0, true, &block->sums[0], &block->sums[2]);
  add_patch(block, block->patch1, 0, true, &block->sums[1], &block->sums[3]);
}

void plain_multiply_one_joined(plain_int4_block *block) {
  add_patch(block, block->patch0, block->offset, false, &block->sums[0], &block->sums[1]);
}

void plain_multiply_one_split(plain_int4_block *block) {
  add_patch(block, block->patch0, block->offset, true, &block->sums[0], &block->sums[1]);
}

#endif
