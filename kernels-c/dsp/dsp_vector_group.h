// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Assembly for four columns of a row and of four filters: what kernels that multiply vectors have in common.
//
//   r0 row   r1 offsets   r2 filter, r12 two filters further   r3 apart   r4 to r7 sums
//   r8, r9 columns of the row   r10, r11 columns of two filters   lr temporary
#ifndef DSP_VECTOR_GROUP_H
#define DSP_VECTOR_GROUP_H

#define DSP_ADD_FILTER(sum, bytes)          \
  "sxtb16 lr, " bytes "\n\t"                \
  "sxtb16 " bytes ", " bytes ", ror #8\n\t" \
  "smlad " sum ", r8, lr, " sum "\n\t"      \
  "smlad " sum ", r9, " bytes ", " sum "\n\t"
#define DSP_MULTIPLY_GROUP                  \
  "ldr.w r9, [r0], #4\n\t"                  \
  "ldr.w r11, [r2, r3]\n\t"                 \
  "ldr.w r10, [r2], #4\n\t"                 \
  "sxtab16 r8, r1, r9\n\t"                  \
  "sxtab16 r9, r1, r9, ror #8\n\t"          \
  DSP_ADD_FILTER("r4", "r10")               \
  DSP_ADD_FILTER("r5", "r11")               \
  "ldr.w r11, [r12, r3]\n\t"                \
  "ldr.w r10, [r12], #4\n\t"                \
  DSP_ADD_FILTER("r6", "r10")               \
  DSP_ADD_FILTER("r7", "r11")

#endif
