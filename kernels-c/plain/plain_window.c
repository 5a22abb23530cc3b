// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_assembly.h"
#include "plain_window.h"

#if PLAIN_THUMB == 1

// The index of all loads is the offset of the input, which the pointers have taken away.
//
//   r0, r1 tap of the input, of the filter   r2 offset   r3, r4 bytes   r5 sum   r7 rows that are left
//   r8, r9 bytes from tap to tap             r10, r11 from row to row   r12 minus_channels   lr code of a row
#define TAP(add_offset)         \
  "ldrsb r3, [r0, r2]\n\t"      \
  "ldrsb r4, [r1, r2]\n\t"      \
  "add r0, r8\n\t"              \
  "add r1, r9\n\t"              \
  add_offset                    \
  "muls r4, r3, r4\n\t"         \
  "adds r5, r5, r4\n\t"
#define ADD_OFFSET "adds r3, r3, r2\n\t"

#define ROW(add_offset)                                                                     \
  TAP(add_offset) TAP(add_offset) TAP(add_offset) TAP(add_offset) TAP(add_offset) TAP(add_offset) \
  TAP(add_offset) TAP(add_offset)                                                           \
  "add r0, r10\n\t"                                                                         \
  "add r1, r11\n\t"                                                                         \
  "subs r7, #1\n\t"                                                                         \
  "beq 3f\n\t"                                                                              \
  "mov pc, lr\n\t"

// A row begins with the tap from which on there are as many as it has. A tap is 14 bytes of code, without offset 12.
PLAIN_NAKED void plain_convolve_window(PLAIN_UNUSED plain_window *window) {
  __asm__ volatile(".syntax unified\n\t"
                   "push {r4, r5, r6, r7, lr}\n\t"
                   "mov r4, r8\n\t"
                   "mov r5, r9\n\t"
                   "mov r6, r10\n\t"
                   "mov r7, r11\n\t"
                   "push {r0, r4, r5, r6, r7}\n\t"
                   "ldr r1, [r0, #8]\n\t"
                   "ldr r2, [r0, #12]\n\t"
                   "ldr r3, [r0, #28]\n\t"
                   "mov r8, r1\n\t"
                   "mov r9, r2\n\t"
                   "muls r1, r3, r1\n\t"
                   "muls r2, r3, r2\n\t"
                   "ldr r4, [r0, #16]\n\t"
                   "subs r4, r4, r1\n\t"
                   "mov r10, r4\n\t"
                   "ldr r4, [r0, #20]\n\t"
                   "subs r4, r4, r2\n\t"
                   "mov r11, r4\n\t"
                   "movs r1, #8\n\t"
                   "subs r1, r1, r3\n\t"
                   "ldr r2, [r0, #40]\n\t"
                   "cmp r2, #0\n\t"
                   "bne 5f\n\t"
                   "movs r2, #12\n\t"
                   "adr r3, 6f\n\t"
                   "b 7f\n"
                   "5:\n\t"
                   "movs r2, #14\n\t"
                   "adr r3, 2f\n"
                   "7:\n\t"
                   "muls r1, r2, r1\n\t"
                   "adds r1, r1, r3\n\t"
                   "mov lr, r1\n\t"
                   "ldr r1, [r0, #32]\n\t"
                   "mov r12, r1\n"
                   "1:\n\t"
                   "ldr r7, [sp]\n\t"
                   "mov r6, r12\n\t"
                   "lsls r4, r6, #2\n\t"
                   "ldr r5, [r7, #44]\n\t"
                   "ldr r5, [r5, r4]\n\t"
                   "ldr r2, [r7, #40]\n\t"
                   "ldr r1, [r7, #4]\n\t"
                   "adds r1, r1, r6\n\t"
                   "subs r1, r1, r2\n\t"
                   "ldr r4, [r7, #36]\n\t"
                   "ands r6, r4\n\t"
                   "ldr r0, [r7]\n\t"
                   "adds r0, r0, r6\n\t"
                   "subs r0, r0, r2\n\t"
                   "ldr r7, [r7, #24]\n\t"
                   "mov pc, lr\n\t"
                   ".balign 4\n"
                   "2:\n\t"
                   ROW(ADD_OFFSET)
                   ".balign 4\n"
                   "6:\n\t"
                   ROW("")
                   "3:\n\t"
                   "mov r1, r5\n\t"
                   "ldr r0, [sp]\n\t"
                   "mov r4, r12\n\t"
                   "lsls r4, r4, #2\n\t"
                   "ldr r7, [r0, #48]\n\t"
                   "ldr r7, [r7, r4]\n\t"
                   "ldr r5, [r0, #52]\n\t"
                   "ldr r5, [r5, r4]\n\t"
                   PLAIN_HALVES
                   "negs r5, r5\n\t"
                   "movs r4, #0\n\t"
                   PLAIN_REQUANTIZE_BY_HALVES("movs r2, #128\n\tlsls r2, r2, #7\n\tadds r3, r3, r2\n\t")
                   PLAIN_CLAMP("#60", "#64", "#68")
                   "ldr r2, [r0, #56]\n\t"
                   "mov r3, r12\n\t"
                   "strb r1, [r2, r3]\n\t"
                   "adds r3, #1\n\t"
                   "mov r12, r3\n\t"
                   "beq 3f\n\t"
                   "b 1b\n"
                   "3:\n\t"
                   "pop {r0, r4, r5, r6, r7}\n\t"
                   "str r3, [r0, #32]\n\t"
                   "mov r8, r4\n\t"
                   "mov r9, r5\n\t"
                   "mov r10, r6\n\t"
                   "mov r11, r7\n\t"
                   "pop {r4, r5, r6, r7, pc}");
}

#elif PLAIN_THUMB == 2

//   r0, r1 tap of the input, of the filter   r2, r3 bytes from tap to tap   r4 sum   r5 to r8 bytes, then temporary
//   r9 struct                                r10 minus_channels             r11 offset of the input   r12 rows left
#define TAP(input, filter, add_offset) \
  "ldrsb.w r5, " input "\n\t"        \
  "ldrsb.w r6, " filter "\n\t"       \
  add_offset("r5")                   \
  "mla r4, r5, r6, r4\n\t"
#define TWO_TAPS(add_offset)         \
  "ldrsb.w r5, [r0]\n\t"             \
  "ldrsb.w r6, [r1]\n\t"             \
  "ldrsb.w r7, [r0, r2]\n\t"         \
  "ldrsb.w r8, [r1, r3]\n\t"         \
  add_offset("r5")                   \
  add_offset("r7")                   \
  "mla r4, r5, r6, r4\n\t"           \
  "mla r4, r7, r8, r4\n\t"

#define THREE_TAPS(add_offset)       \
  TWO_TAPS(add_offset) TAP("[r0, r2, lsl #1]", "[r1, r3, lsl #1]", add_offset)
#define ADD_OFFSET(value) "add " value ", " value ", r11\n\t"
#define NO_OFFSET(value)

// Any number of taps, by which r0 and r1 move on. lr: taps that are left.
#define MANY_TAPS(add_offset)        \
  "ldr lr, [r9, #28]\n\t"            \
  "subs lr, lr, #4\n\t"              \
  "blo 8f\n"                         \
  "7:\n\t"                           \
  TWO_TAPS(add_offset)               \
  "add r0, r0, r2, lsl #1\n\t"       \
  "add r1, r1, r3, lsl #1\n\t"       \
  TWO_TAPS(add_offset)               \
  "add r0, r0, r2, lsl #1\n\t"       \
  "add r1, r1, r3, lsl #1\n\t"       \
  "subs lr, lr, #4\n\t"              \
  "bhs 7b\n"                         \
  "8:\n\t"                           \
  "adds lr, lr, #4\n\t"              \
  "beq 8f\n"                         \
  "7:\n\t"                           \
  TAP("[r0]", "[r1]", add_offset)    \
  "add r0, r0, r2\n\t"               \
  "add r1, r1, r3\n\t"               \
  "subs lr, lr, #1\n\t"              \
  "bne 7b\n"                         \
  "8:\n\t"

#define BEGIN_CHANNEL                       \
  "ldrd r0, r1, [r9]\n\t"                   \
  "ldr r5, [r9, #36]\n\t"                   \
  "ldr r4, [r9, #44]\n\t"                   \
  "ldr r12, [r9, #24]\n\t"                  \
  "and r5, r5, r10\n\t"                     \
  "add r0, r0, r5\n\t"                      \
  "add r1, r1, r10\n\t"                     \
  "ldr r4, [r4, r10, lsl #2]\n\t"

#define END_CHANNEL(raised, saturated_min)                                                          \
  "ldrd r5, r6, [r9, #48]\n\t"                                                                      \
  "ldr r5, [r5, r10, lsl #2]\n\t"                                                                   \
  "ldr r6, [r6, r10, lsl #2]\n\t"                                                                   \
  "rsb r6, r6, #0\n\t"                                                                              \
  PLAIN_REQUANTIZE("r4", "r5", "r6", raised, "r7")                                                  \
  "ldr r5, [r9, #64]\n\t"                                                                           \
  "ldr r6, [r9, #56]\n\t"                                                                           \
  PLAIN_CUT_AT_MIN("r4", saturated_min, "r5")                                                       \
  "strb r4, [r6, r10]\n\t"                                                                          \
  "adds r10, r10, #1\n\t"

// All rows of a channel, each of which `taps` takes, and then the next channel. step: two words, what then leads to the
// next row.
#define ROWS(taps, step)                    \
  "5:\n\t"                                  \
  BEGIN_CHANNEL                             \
  "6:\n\t"                                  \
  taps                                      \
  "ldrd r5, r6, " step "\n\t"               \
  "subs r12, r12, #1\n\t"                   \
  "add r0, r0, r5\n\t"                      \
  "add r1, r1, r6\n\t"                      \
  "bne 6b\n\t"                              \
  "ldrd r12, lr, [r9, #72]\n\t"             \
  END_CHANNEL("r12", "lr")                  \
  "bne.w 5b\n\t"                            \
  "b.w 9f\n"

// A row of a window of 3x3 without offset, whose taps in input and filter are equally far apart, and each of whose
// channels has its own of the input.
#define ROW_INSIDE                          \
  "ldrsb.w r5, [r0]\n\t"                    \
  "ldrsb.w r6, [r1]\n\t"                    \
  "ldrsb.w r7, [r0, r2]\n\t"                \
  "ldrsb.w r8, [r1, r2]\n\t"                \
  "mla r4, r5, r6, r4\n\t"                  \
  "ldrsb.w r5, [r0, r2, lsl #1]\n\t"        \
  "ldrsb.w r6, [r1, r2, lsl #1]\n\t"        \
  "mla r4, r7, r8, r4\n\t"                  \
  "mla r4, r5, r6, r4\n\t"
#define NEXT_ROW                            \
  "add r0, r0, r12\n\t"                     \
  "add r1, r1, lr\n\t"

PLAIN_NAKED void plain_convolve_window(PLAIN_UNUSED plain_window *window) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "sub sp, sp, #8\n\t"
                   "mov r9, r0\n\t"
                   "ldrd r2, r3, [r9, #8]\n\t"
                   "ldrd r4, r5, [r9, #24]\n\t"
                   "ldr r10, [r9, #32]\n\t"
                   "ldr r11, [r9, #40]\n\t"
                   "cmp r5, #2\n\t"
                   "beq.w 2f\n\t"
                   "blo.w 1f\n\t"
                   "cmp r5, #3\n\t"
                   "bne.w 4f\n\t"
                   "cmp r11, #0\n\t"
                   "bne.w 3f\n\t"
                   "cmp r2, r3\n\t"
                   "it eq\n\t"
                   "cmpeq r4, #3\n\t"
                   "bne.w 10f\n\t"
                   "ldr r6, [r9, #36]\n\t"
                   "cmp r6, #0\n\t"
                   "beq.w 10f\n\t"
                   // 3x3 inside: r3, r11 raised offset and saturated_min.
                   "ldrd r12, lr, [r9, #16]\n\t"
                   "ldrd r3, r11, [r9, #72]\n"
                   "5:\n\t"
                   "ldrd r0, r1, [r9]\n\t"
                   "ldr r4, [r9, #44]\n\t"
                   "add r0, r0, r10\n\t"
                   "add r1, r1, r10\n\t"
                   "ldr r4, [r4, r10, lsl #2]\n\t"
                   ROW_INSIDE NEXT_ROW ROW_INSIDE NEXT_ROW ROW_INSIDE
                   END_CHANNEL("r3", "r11")
                   "bne 5b\n\t"
                   "b.w 9f\n"
                   "10:\n"
                   ROWS(THREE_TAPS(NO_OFFSET), "[r9, #16]")
                   "3:\n"
                   ROWS(THREE_TAPS(ADD_OFFSET), "[r9, #16]")
                   "2:\n"
                   ROWS(TWO_TAPS(ADD_OFFSET), "[r9, #16]")
                   "1:\n"
                   ROWS(TAP("[r0]", "[r1]", ADD_OFFSET), "[r9, #16]")
                   // The stack holds the steps from behind the last tap of a row to the next row.
                   "4:\n\t"
                   "ldrd r6, r7, [r9, #16]\n\t"
                   "mls r6, r5, r2, r6\n\t"
                   "mls r7, r5, r3, r7\n\t"
                   "strd r6, r7, [sp]\n\t"
                   "cmp r11, #0\n\t"
                   "bne.w 3f\n"
                   ROWS(MANY_TAPS(NO_OFFSET), "[sp]")
                   "3:\n"
                   ROWS(MANY_TAPS(ADD_OFFSET), "[sp]")
                   "9:\n\t"
                   "str r10, [r9, #32]\n\t"
                   "add sp, sp, #8\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#else

static int32_t sum_of(const plain_window *window, int32_t channel) {
  const int8_t *input_row = window->input_end + (channel & window->input_mask);
  const int8_t *filter_row = window->filter_end + channel;
  int32_t sum = window->start_end[channel];
  for (int32_t y = 0; y < window->rows; ++y) {
    for (int32_t x = 0; x < window->columns; ++x) {
      sum += (input_row[x * window->input_column] + window->input_offset) * filter_row[x * window->filter_column];
    }
    input_row += window->input_row;
    filter_row += window->filter_row;
  }
  return sum;
}

void plain_convolve_window(plain_window *window) {
  for (; window->minus_channels != 0; ++window->minus_channels) {
    const int32_t c = window->minus_channels;
    const int32_t value =
        plain_requantize_taken(sum_of(window, c), window->multiplier_end[c], window->shift_end[c]) + window->offset;
    window->output_end[c] = (int8_t)dmo_clamp(value, window->min, window->max);
  }
}

#endif
