// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Kernels that copy, as void arm_reshape_s8(const int8_t *input, int8_t *output, uint32_t size), and what data decide in
// them. KIND says which.
//
// Nothing:
// 1   output[i] = input[i] < -100 ? -100 : input[i], by a branch
// 2   the same by an instruction that is conditional
// 3   as 1, after a function call that only one way makes, which uses the stack
// 4   as 1, with a loop of its own on one way, whose count no datum decides
// 5   output[i] = table[i], where the table's address was on the stack
// 6   as 1, with a way that loads a constant, from where a register points to
// 7   output[i] = table[input[i] & 7]
// Something:
// 11  if (input[0] == 37) output[size - 1] = 1, by a branch, and then all of output = input
// 12  the same by a conditional store
// 13  output[i] = input[input[i] & 7]
// 14  while (input[0] > n) n += 200: as many rounds as the input says, each with a load of it
// 15  returns at once if input[0] == 37
// 16  as 3, where the function loads input
// 17  as 11, with the decision in memory between
// 18  goes on where input[0] says, which is always the same place
// 19  as 11, by a way that comes twice by where both meet, and only then accesses what the other has accessed
// 20  STREX, after an LDREX from the stack that is conditional
// 21  a branch into an IT block, where the architecture does not say what happens
// 22  stores to a variable
// 23  as 11, with the decision in a word above the arguments, which an earlier call has left
// 24  reads CONTROL
// 25  STREX of what an earlier call has left open
// 26  writes PSP
  .syntax unified
  .thumb
  .global arm_reshape_s8
  .type arm_reshape_s8, %function
  .thumb_func
arm_reshape_s8:
  push {r4, r5, r6, r7, lr}
  sub sp, #8
  movs r3, #0
  ldrsb r4, [r0]
  adr r6, 9f
#if KIND == 5
  str r6, [sp, #4]
#elif KIND == 11
  cmp r4, #37
  bne 1f
  subs r5, r2, #1
  strb r4, [r1, r5]
1:
#elif KIND == 12
  subs r5, r2, #1
  cmp r4, #37
  it eq
  strbeq r4, [r1, r5]
#elif KIND == 14
  movs r7, #127
1:
  ldrsb r4, [r0]
  cmp r4, r7
  itt gt
  addgt r7, #200
  bgt 1b
#elif KIND == 15
  cmp r4, #37
  beq 4f
#elif KIND == 17
  str r4, [sp, #4]
  movs r4, #0
  ldr r5, [sp, #4]
  eors r5, r4
  cmp r5, #37
  bne 1f
  subs r5, r2, #1
  strb r4, [r1, r5]
1:
#elif KIND == 19
  movs r5, #3
  movs r7, #0
  cmp r4, #77
  bne 1f
  strb r4, [r1]
  movs r5, #5
  movs r7, #1
1:
  cmp r7, #1
  bge 5f
  strb r4, [r1]
  movs r5, #3
  adds r7, #1
  b 1b
5:
  cmp r5, #5
  bne 1f
  subs r5, r2, #1
  strb r4, [r1, r5]
1:
#elif KIND == 20
  clrex
  mov r7, sp
  cmp r4, #77
  it ne
  ldrexbne r5, [r7]
  mov r7, r1
  strexb r5, r4, [r7]
#elif KIND == 21
  ands r5, r2, #0
  movs r7, #0
  cmp r7, r4
  cbnz r4, 1f
  .short 0xbf08
1:
  strb r4, [r1]
#elif KIND == 23
  ldr r5, [sp, #32]
  ldr r7, [r0]
  str r7, [sp, #32]
  cmp r5, #37
  bne 1f
  subs r5, r2, #1
  strb r4, [r1, r5]
1:
#elif KIND == 24
  mrs r5, control
#elif KIND == 25
  str r4, [sp]
  mov r6, sp
  strex r5, r4, [r6]
#elif KIND == 26
  msr psp, r2
#elif KIND == 22
  ldr r5, =variable
  str r2, [r5]
#elif KIND == 18
  ands r4, #0
  adr r5, 2f
  adds r5, #1
  adds r5, r5, r4
  bx r5
  .balign 4
#endif
2:
  ldrsb r4, [r0, r3]
#if KIND == 1
  cmn r4, #100
  bge 3f
  mvn r4, #99
3:
#elif KIND == 2
  cmn r4, #100
  it lt
  mvnlt r4, #99
#elif KIND == 3 || KIND == 16
  cmn r4, #100
  bge 3f
  bl least
3:
#elif KIND == 4
  cmn r4, #100
  bge 3f
  mvn r4, #96
  movs r5, #3
1:
  subs r4, #1
  subs r5, #1
  ldr r7, [sp, r5, lsl #2]
  bne 1b
3:
#elif KIND == 5
  ldr r5, [sp, #4]
  ldrb r4, [r5, r3]
#elif KIND == 6
  cmn r4, #100
  bge 3f
  ldrsb r4, [r6, #8]
3:
#elif KIND == 7
  and r4, #7
  ldrb r4, [r6, r4]
#elif KIND == 13
  and r4, #7
  ldrb r4, [r0, r4]
#endif
  strb r4, [r1, r3]
  adds r3, #1
  cmp r3, r2
  blt 2b
4:
  add sp, #8
  pop {r4, r5, r6, r7, pc}
  .balign 4
9:
  .byte 3, 1, 4, 1, 5, 9, 2, 6, -100, 3, 5, 8, 9, 7, 9, 3
  .type least, %function
  .thumb_func
least:
  push {r5, r7, lr}
#if KIND == 16
  ldrsb r5, [r0]
#endif
  mvn r4, #99
  pop {r5, r7, pc}
#if KIND == 22
  .ltorg
  .comm variable, 4
#endif
