// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Pieces of assembly that several files share.
#ifndef PLAIN_ASSEMBLY_H
#define PLAIN_ASSEMBLY_H

// plain_requantize in Thumb without a long multiplication, by halves as plain_multiply_high. The division adds the last
// bit that it shifts out; a shift of 0 leaves the carry of the addition before, which is 1 for a negative number, and
// so gives back what that has taken away.
//
//   r1 sum, then the result   r6, r7 halves of the multiplier (PLAIN_HALVES)   r5 -shift   r4 0   r2, r3 temporary
// add_2_14 adds 2^14 to r3; it may use r2.
#define PLAIN_REQUANTIZE_BY_HALVES(add_2_14) \
  "sxth r2, r1\n\t"                          \
  "subs r1, r1, r2\n\t"                      \
  "asrs r1, r1, #16\n\t"                     \
  "mov r3, r2\n\t"                           \
  "muls r3, r6, r3\n\t"                      \
  "asrs r3, r3, #16\n\t"                     \
  "muls r2, r7, r2\n\t"                      \
  "adds r3, r3, r2\n\t"                      \
  "mov r2, r6\n\t"                           \
  "muls r2, r1, r2\n\t"                      \
  "adds r3, r3, r2\n\t"                      \
  "muls r1, r7, r1\n\t"                      \
  "lsls r1, r1, #1\n\t"                      \
  add_2_14                                   \
  "asrs r3, r3, #15\n\t"                     \
  "adds r1, r1, r3\n\t"                      \
  "asrs r3, r1, #31\n\t"                     \
  "adds r1, r1, r3\n\t"                      \
  "asrs r1, r5\n\t"                          \
  "adcs r1, r4\n\t"

// The multiplier in r7 as its lower half, with sign, in r6, and its upper half in r7.
#define PLAIN_HALVES      \
  "sxth r6, r7\n\t"       \
  "subs r7, r7, r6\n\t"   \
  "lsrs r7, r7, #16\n\t"

// Adds the output's offset to r1 and clamps it; the three are words of the struct in r0. r2 temporary.
#define PLAIN_CLAMP(offset, min, max) \
  "ldr r2, [r0, " offset "]\n\t"      \
  "adds r1, r1, r2\n\t"               \
  "ldr r2, [r0, " min "]\n\t"         \
  "cmp r1, r2\n\t"                    \
  "bge 4f\n\t"                        \
  "mov r1, r2\n"                      \
  "4:\n\t"                            \
  "ldr r2, [r0, " max "]\n\t"         \
  "cmp r1, r2\n\t"                    \
  "ble 4f\n\t"                        \
  "mov r1, r2\n"                      \
  "4:\n\t"

// The same with a long multiplication, but for the clamp: raised is the output's offset and 127 - max, so that
// saturation to int8 cuts at max. negated_shift: -shift; temporary: a register.
#define PLAIN_REQUANTIZE(sum, multiplier, negated_shift, raised, temporary)  \
  "smull " temporary ", " sum ", " sum ", " multiplier "\n\t"                \
  "lsls " temporary ", " temporary ", #1\n\t"                                \
  "adc " sum ", " sum ", " sum "\n\t"                                        \
  "add " sum ", " sum ", " temporary ", lsr #31\n\t"                         \
  "adds " sum ", " sum ", " sum ", asr #31\n\t"                              \
  "asrs " sum ", " sum ", " negated_shift "\n\t"                             \
  "adc " sum ", " sum ", " raised "\n\t"                                     \
  "ssat " sum ", #8, " sum "\n\t"

// Saturation to uint8 cuts at min.
#define PLAIN_CUT_AT_MIN(value, saturated_min, min) \
  "sub " value ", " value ", " saturated_min "\n\t" \
  "usat " value ", #8, " value "\n\t"               \
  "add " value ", " value ", " min "\n\t"

#endif
