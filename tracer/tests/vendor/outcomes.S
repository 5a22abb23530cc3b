// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Kernels with conditional stores, as void arm_reshape_s8(const int8_t *input, int8_t *output, uint32_t size). KIND says
// which; in C, for each i from 0:
//
// 1   output[i] = input[i]; if (i + 1 < size && output[i] < input[i + 1]) output[i] = input[i + 1];
// 2   if (input[i] > 0) output[i] = input[i];
// 3   as 1, with the address moved in the same IT block
// 4   as 1, with a branch around the store
// 5   if (input[i] > 100) output[size - 1 - i] = input[i]; and then all of output = input
// 6   as 1, with the store after another instruction of its IT block
// 7   if (input[i] > 0) *output++ = input[i]; and then all of output = input
// 8   as 1, and before it if (input[0] == 101) output[size - 1] = input[0];
  .syntax unified
  .thumb
  .global arm_reshape_s8
  .type arm_reshape_s8, %function
  .thumb_func
arm_reshape_s8:
  push {r4, r5, r6, r7, lr}
  movs r3, #0
#if KIND == 5 || KIND == 7
  mov r6, r1
1:
  ldrsb r4, [r0, r3]
#if KIND == 5
  subs r5, r2, r3
  subs r5, #1
  cmp r4, #100
  it gt
  strbgt r4, [r1, r5]
#else
  cmp r4, #0
  it gt
  strbgt r4, [r6], #1
#endif
  adds r3, #1
  cmp r3, r2
  blt 1b
  movs r3, #0
#endif
#if KIND == 8
  ldrsb r4, [r0]
  subs r5, r2, #1
  cmp r4, #101
  it eq
  strbeq r4, [r1, r5]
#endif
2:
  ldrsb r4, [r0, r3]
#if KIND == 2
  cmp r4, #0
  it gt
  strbgt r4, [r1, r3]
  adds r3, #1
#else
  strb r4, [r1, r3]
  mov r6, r3
  adds r3, #1
#endif
#if KIND == 1 || KIND == 3 || KIND == 4 || KIND == 6 || KIND == 8
  cmp r3, r2
  bge 4f
  ldrsb r4, [r0, r3]
  ldrsb r5, [r1, r6]
  cmp r5, r4
#if KIND == 1 || KIND == 8
  it lt
  strblt r4, [r1, r6]
#elif KIND == 3
  subs r6, #1
  cmp r5, r4
  itt lt
  addlt r6, #1
  strblt r4, [r1, r6]
#elif KIND == 4
  bge 3f
  strb r4, [r1, r6]
3:
#else
  itt lt
  movlt r7, r4
  strblt r7, [r1, r6]
#endif
#endif
4:
  cmp r3, r2
  blt 2b
  pop {r4, r5, r6, r7, pc}
