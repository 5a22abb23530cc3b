// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp.h"

#include <stddef.h>

// One input: (byte + offset) * 2^left_shift, requantised.
typedef struct {
  int32_t offset, left_shift, multiplier, shift;
  int32_t half;     // 2^(-shift - 1), or 0 for shift 0
  int32_t negative; // what is added for a negative value before the division: -1, or 0 for shift 0
} add_input;

DSP_INLINE add_input make_input(int32_t offset, int32_t left_shift, int32_t multiplier, int32_t shift) {
  return (add_input){ offset, left_shift, multiplier, shift, shift < 0 ? INT32_C(1) << ~shift : 0, shift < 0 ? -1 : 0 };
}

// The fast way takes any shift that is not positive: the value lies below 2^28.
DSP_INLINE int32_t scale(dsp_way way, const add_input *input, int32_t byte) {
  if (way == DSP_EXACT) {
    return dmo_requantize((byte + input->offset) * (INT32_C(1) << input->left_shift), input->multiplier, input->shift);
  }
  const int32_t doubled = (int32_t)((uint32_t)(byte + input->offset) << (input->left_shift + 1));
  const int32_t bias = input->half + (doubled >> 31 & input->negative);
  return dsp_multiply_top(doubled, input->multiplier, bias) >> -input->shift;
}

DSP_INLINE void add(dsp_way way, const add_input *shared1, const add_input *shared2, const dsp_range *shared_range,
                    int32_t out_mult, int32_t out_shift, const int8_t *vector1, const int8_t *vector2, int8_t *output,
                    int32_t count) {
  // Copies, which a store to the output cannot change.
  const add_input input1 = *shared1, input2 = *shared2;
  const dsp_range range = *shared_range;
  const dsp_channel channel = dsp_make_channel(way, &range, out_mult, out_shift);
  while (count > 0) {
    const bool whole = count >= 4;
    const uint32_t four1 = whole ? dsp_load4(vector1) : dsp_load_some(vector1, count);
    const uint32_t four2 = whole ? dsp_load4(vector2) : dsp_load_some(vector2, count);
    int32_t value[4];
    for (int32_t i = 0; i < 4; ++i) {
      const int32_t sum =
          scale(way, &input1, (int8_t)(four1 >> (8 * i))) + scale(way, &input2, (int8_t)(four2 >> (8 * i)));
      value[i] = dsp_requantize(way, &range, channel, way == DSP_EXACT ? sum : 2 * sum);
    }
    const uint32_t word = dsp_pack4(value[0], value[1], value[2], value[3]);
    if (whole) {
      dsp_store4(output, word);
    } else {
      dsp_store_some(output, word, count);
    }
    vector1 += 4;
    vector2 += 4;
    output += 4;
    count -= 4;
  }
}

#if DSP_INSTRUCTIONS

// What the assembly reads, in this order: of each input what is added to a byte, its multiplier, its half, the
// shift to the left, and -shift; then of the output.
typedef struct {
  int32_t offset, multiplier, half, left_shift, shift;
} add_numbers;
typedef struct {
  add_numbers input1, input2;
  int32_t multiplier, bias, shift; // of the output: dsp_channel, its shift less one
  int32_t is_clamped, saturated_min, min;
  const int8_t *vector2;
  int8_t *end; // of the output
} add_block;

// Four elements at a time. The stack holds a copy of add_block.
//
//   lr, r10 first input, output   r8 four bytes   r4 to r7 values   r0, r9 temporary
//   r1 offset   r2 multiplier   r3 half   r12 shift   r11 shift to the left
#define SCALE(value, rotate)                  \
  "sxtab " value ", r1, r8" rotate "\n\t"     \
  "lsl " value ", " value ", r11\n\t"         \
  "add r0, r3, " value ", asr #31\n\t"        \
  "smmlar " value ", " value ", r2, r0\n\t"
#define SCALE_FIRST(value, rotate) SCALE(value, rotate) "asr " value ", " value ", r12\n\t"
#define ADD_SECOND(value, rotate) \
  SCALE("r9", rotate) "asr r9, r9, r12\n\tadd " value ", " value ", r9\n\t"
#define REQUANTIZE(value)                       \
  "lsl " value ", " value ", #1\n\t"            \
  "add r0, r2, " value ", asr #31\n\t"          \
  "smmlar " value ", " value ", r1, r0\n\t"     \
  "asr " value ", " value ", r3\n\t"            \
  "ssat " value ", #8, " value ", asr #1\n\t"
#define CLAMP(value)                  \
  "sub " value ", " value ", r1\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r2\n\t"

// The arguments are in r0 to r2, as the procedure call standard says.
DSP_NAKED static void add_groups(DSP_UNUSED const add_block *block, DSP_UNUSED const int8_t *vector1,
                                 DSP_UNUSED int8_t *output) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "mov lr, r1\n\t"
                   "mov r10, r2\n\t"
                   "add r12, r0, #40\n\t"
                   "ldm r12, {r1, r2, r3, r4, r5, r6, r7, r8}\n\t"
                   "push {r1, r2, r3, r4, r5, r6, r7, r8}\n\t"
                   "ldm r0, {r1, r2, r3, r4, r5, r6, r7, r8, r9, r11}\n\t"
                   "push {r1, r2, r3, r4, r5, r6, r7, r8, r9, r11}\n"
                   "1:\n\t"
                   "ldm sp, {r1, r2, r3, r11, r12}\n\t"
                   "ldr r8, [lr], #4\n\t"
                   SCALE_FIRST("r4", "") SCALE_FIRST("r5", ", ror #8")
                   SCALE_FIRST("r6", ", ror #16") SCALE_FIRST("r7", ", ror #24")
                   "add r0, sp, #20\n\t"
                   "ldr r9, [sp, #64]\n\t"
                   "ldm r0, {r1, r2, r3, r11, r12}\n\t"
                   "ldr r8, [r9], #4\n\t"
                   "str r9, [sp, #64]\n\t"
                   ADD_SECOND("r4", "") ADD_SECOND("r5", ", ror #8")
                   ADD_SECOND("r6", ", ror #16") ADD_SECOND("r7", ", ror #24")
                   "ldr r1, [sp, #40]\n\t"
                   "ldr r2, [sp, #44]\n\t"
                   "ldr r3, [sp, #48]\n\t"
                   "ldr r8, [sp, #52]\n\t"
                   REQUANTIZE("r4") REQUANTIZE("r5") REQUANTIZE("r6") REQUANTIZE("r7")
                   "cmp r8, #0\n\t"
                   "beq 2f\n\t"
                   "ldrd r1, r2, [sp, #56]\n\t"
                   CLAMP("r4") CLAMP("r5") CLAMP("r6") CLAMP("r7")
                   "2:\n\t"
                   "ldr r0, [sp, #68]\n\t"
                   "bfi r4, r5, #8, #8\n\t"
                   "bfi r4, r6, #16, #8\n\t"
                   "bfi r4, r7, #24, #8\n\t"
                   "str r4, [r10], #4\n\t"
                   "cmp r10, r0\n\t"
                   "bne 1b\n\t"
                   "add sp, sp, #72\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

// Multipliers of 1/2 without a shift are the rule for the input with the larger scale. What they multiply is even, so
// that twice as much can be halved instead.
static bool make_numbers(const add_input *input, add_numbers *numbers) {
  const bool is_half = input->shift == 0 && input->multiplier == 1 << 30 && input->left_shift > 1;
  if (input->shift == 0 && !is_half) {
    return false;
  }
  *numbers = (add_numbers){ input->offset, input->multiplier, is_half ? 1 : input->half,
                            is_half ? input->left_shift + 2 : input->left_shift + 1, is_half ? 1 : -input->shift };
  return true;
}

// Returns how many elements are done.
static int32_t try_groups(const add_input *input1, const add_input *input2, const dsp_range *range, int32_t multiplier,
                          int32_t shift, const int8_t *vector1, const int8_t *vector2, int8_t *output, int32_t count) {
  const int32_t done = count & ~3;
  const dsp_channel channel = dsp_make_channel(DSP_CLAMP, range, multiplier, shift);
  add_block block = {
    .multiplier = channel.multiplier,
    .bias = channel.bias,
    .shift = channel.shift - 1,
    .is_clamped = dsp_fast_way(range) == DSP_CLAMP,
    .saturated_min = range->saturated_min,
    .min = range->min,
    .vector2 = vector2,
    .end = output + done,
  };
  if (done == 0 || !make_numbers(input1, &block.input1) || !make_numbers(input2, &block.input2)) {
    return 0;
  }
  add_groups(&block, vector1, output);
  return done;
}
#endif

arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *input_1_vect, const int8_t *input_2_vect,
                                           const int32_t input_1_offset, const int32_t input_1_mult,
                                           const int32_t input_1_shift, const int32_t input_2_offset,
                                           const int32_t input_2_mult, const int32_t input_2_shift,
                                           const int32_t left_shift, int8_t *output, const int32_t out_offset,
                                           const int32_t out_mult, const int32_t out_shift,
                                           const int32_t out_activation_min, const int32_t out_activation_max,
                                           const int32_t block_size) {
  const dsp_range range = dsp_make_range(out_offset, out_activation_min, out_activation_max);
  const add_input input1 = make_input(input_1_offset, left_shift, input_1_mult, input_1_shift);
  const add_input input2 = make_input(input_2_offset, left_shift, input_2_mult, input_2_shift);
  const bool fast = input_1_mult >= 0 && input_1_shift <= 0 && input_2_mult >= 0 && input_2_shift <= 0 &&
                    left_shift >= 0 && left_shift <= 20 &&
                    dsp_choose_way(&range, 1, &out_mult, &out_shift, NULL, 0) != DSP_EXACT;
  if (fast) {
    int32_t done = 0;
#if DSP_INSTRUCTIONS
    done = try_groups(&input1, &input2, &range, out_mult, out_shift, input_1_vect, input_2_vect, output, block_size);
#endif
    add(DSP_CLAMP, &input1, &input2, &range, out_mult, out_shift, input_1_vect + done, input_2_vect + done,
        output + done, block_size - done);
  } else {
    add(DSP_EXACT, &input1, &input2, &range, out_mult, out_shift, input_1_vect, input_2_vect, output, block_size);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
