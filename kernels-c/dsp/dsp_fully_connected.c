// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_fully_connected.h"
#include "dsp_vector_group.h"

#include <stddef.h>

DSP_INLINE int32_t output_of(const dsp_matrix *matrix, int32_t c, int32_t sum) {
  const cmsis_nn_fc_params *const params = matrix->params;
  const int32_t quotient = dmo_requantize(sum, matrix->multiplier[c * matrix->step], matrix->shift[c * matrix->step]);
  return dmo_clamp(quotient + params->output_offset, params->activation.min, params->activation.max);
}

DSP_OUT_OF_LINE static int32_t requantize(const dsp_matrix *matrix, int32_t c, int32_t sum) {
  return output_of(matrix, c, sum);
}

#if DSP_INSTRUCTIONS

// What the assembly reads, and in part advances, in this order.
typedef struct {
  const int8_t *input;
  uint32_t offsets;
  int32_t apart;              // bytes from one filter to the next
  const int8_t *filter;       // of the first output of the next block
  const int32_t *bias;
  int8_t *output, *output_end;
  const int32_t *multiplier, *shift;
  int32_t step;               // bytes from one output's multiplier and shift to the next output's
  int32_t half_offset, saturated_min, min; // of dsp_range
  uint32_t groups_code;       // bytes of code of the groups that are skipped in the first round
  uint32_t groups_end, input_end; // addresses
  int32_t sums[4];            // of the block where the assembly has stopped
  uint32_t stops;             // its highest bit: at every block
  int32_t bias_step;          // bytes from one block's biases to the next block's
} matrix_block;

// GROUP_CODE_BYTES is the size of DSP_MULTIPLY_GROUP.
enum { UNROLLED_GROUPS = 4, GROUP_CODE_BYTES = 92 };

// The stack holds the end of the input's groups, the address of the first group's code, and the block's address.
//
// Registers as in dsp_vector_group.h, where a row is the input, and after the columns
//
//   lr block   r0, r1 where multiplier and shift are   r2 half_offset   r3 step   r8 multiplier   r9 shift
//   r10 bias   r11 temporary
// A column behind the groups.
#define MULTIPLY_COLUMN            \
  "ldrsb r8, [r0], #1\n\t"         \
  "ldrsb r9, [r2, r3]\n\t"         \
  "ldrsb r10, [r2], #1\n\t"        \
  "sadd16 r8, r8, r1\n\t"          \
  "smlabb r5, r8, r9, r5\n\t"      \
  "smlabb r4, r8, r10, r4\n\t"     \
  "ldrsb r9, [r12, r3]\n\t"        \
  "ldrsb r10, [r12], #1\n\t"       \
  "smlabb r7, r8, r9, r7\n\t"      \
  "smlabb r6, r8, r10, r6\n\t"
#define REQUANTIZE(sum)                    \
  "ldr r8, [r0]\n\t"                       \
  "ldr r9, [r1]\n\t"                       \
  "add r0, r0, r3\n\t"                     \
  "add r1, r1, r3\n\t"                     \
  "mvn r9, r9\n\t"                         \
  "lsl r10, r2, r9\n\t"                    \
  "add r11, r10, " sum ", asr #31\n\t"     \
  "lsl " sum ", " sum ", #1\n\t"           \
  "smmlar " sum ", " sum ", r8, r11\n\t"   \
  "asr " sum ", " sum ", r9\n\t"           \
  "ssat " sum ", #8, " sum ", asr #1\n\t"
#define CLAMP(value)                  \
  "sub " value ", " value ", r8\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r9\n\t"

// The argument is in r0, as the procedure call standard says. Blocks of four outputs, up to the end or to a block with
// a sum that cannot be doubled; of that it leaves the sums. Or only the sums of one block after the other.
DSP_NAKED static void multiply_matrix(DSP_UNUSED matrix_block *block) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "mov lr, r0\n\t"
                   "adr.w r2, 2f\n\t"
                   "ldr r1, [lr, #52]\n\t"
                   "ldr r0, [lr, #56]\n\t"
                   "add r1, r1, r2\n\t"
                   "orr r1, r1, #1\n\t"
                   "mov r2, lr\n\t"
                   "push {r0, r1, r2}\n"
                   "1:\n\t"
                   "ldr r8, [lr, #16]\n\t"
                   "ldr r2, [lr, #12]\n\t"
                   "ldr r3, [lr, #8]\n\t"
                   "ldr r1, [lr, #4]\n\t"
                   "ldr r0, [lr]\n\t"
                   "ldr r10, [sp]\n\t"
                   "ldr r11, [sp, #4]\n\t"
                   "ldm r8!, {r4, r5, r6, r7}\n\t"
                   "add r12, r2, r3, lsl #1\n\t"
                   "cmp r0, r10\n\t"
                   "beq.w 3f\n\t"
                   "bx r11\n\t"
                   ".balign 4\n"
                   "2:\n\t"
                   DSP_MULTIPLY_GROUP
                   DSP_MULTIPLY_GROUP
                   DSP_MULTIPLY_GROUP
                   DSP_MULTIPLY_GROUP
                   "ldr r10, [sp]\n\t"
                   "cmp r0, r10\n\t"
                   "bne.w 2b\n"
                   "3:\n\t"
                   "ldr lr, [sp, #8]\n\t"
                   "ldr r11, [lr, #60]\n"
                   "4:\n\t"
                   "cmp r0, r11\n\t"
                   "beq.w 5f\n\t"
                   MULTIPLY_COLUMN
                   "b.w 4b\n"
                   "5:\n\t"
                   "ldr r8, [lr, #16]\n\t"
                   "ldrd r0, r1, [lr, #80]\n\t"
                   "add r12, r12, r3\n\t"
                   "str r12, [lr, #12]\n\t"
                   "add r8, r8, r1\n\t"
                   "str r8, [lr, #16]\n\t"
                   "add r8, r4, #0x40000000\n\t"
                   "add r9, r5, #0x40000000\n\t"
                   "add r10, r6, #0x40000000\n\t"
                   "orr r8, r8, r9\n\t"
                   "add r11, r7, #0x40000000\n\t"
                   "orr r8, r8, r10\n\t"
                   "orr r11, r11, r0\n\t"
                   "orrs r8, r8, r11\n\t"
                   "bmi.w 6f\n\t"
                   "ldr r0, [lr, #28]\n\t"
                   "ldr r1, [lr, #32]\n\t"
                   "ldr r2, [lr, #40]\n\t"
                   "ldr r3, [lr, #36]\n\t"
                   REQUANTIZE("r4") REQUANTIZE("r5") REQUANTIZE("r6") REQUANTIZE("r7")
                   "ldrd r8, r9, [lr, #44]\n\t"
                   "str r0, [lr, #28]\n\t"
                   "str r1, [lr, #32]\n\t"
                   CLAMP("r4") CLAMP("r5") CLAMP("r6") CLAMP("r7")
                   "ldrd r10, r11, [lr, #20]\n\t"
                   "bfi r4, r5, #8, #8\n\t"
                   "bfi r4, r6, #16, #8\n\t"
                   "bfi r4, r7, #24, #8\n\t"
                   "str r4, [r10], #4\n\t"
                   "str r10, [lr, #20]\n\t"
                   "cmp r10, r11\n\t"
                   "bne.w 1b\n\t"
                   "b.w 7f\n"
                   "6:\n\t"
                   "add lr, lr, #64\n\t"
                   "stm lr, {r4, r5, r6, r7}\n"
                   "7:\n\t"
                   "add sp, sp, #12\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

// Whether the fast ways take outputs, if their sums can be doubled.
static bool is_fast(const dsp_matrix *matrix, const dsp_range *range, int32_t first, int32_t end) {
  for (int32_t i = first * matrix->step; i <= (end - 1) * matrix->step; ++i) {
    if (!dsp_is_fast(range, matrix->multiplier[i], matrix->shift[i], 0, 0)) {
      return false;
    }
  }
  return true;
}

// What the filter's offset adds to each sum: the offset times the input with its own.
static int32_t offset_sum(const dsp_matrix *matrix, const int8_t *input) {
  const int32_t filter_offset = matrix->params->filter_offset;
  if (filter_offset == 0) {
    return 0;
  }
  const uint32_t ones = dsp_pair(1, 1);
  int32_t sum = matrix->inputs * matrix->params->input_offset;
  int32_t left = matrix->inputs;
  for (; left >= 4; left -= 4) {
    const uint32_t four = dsp_load4(input);
    sum = dsp_multiply_pairs(dsp_even(four), ones, sum);
    sum = dsp_multiply_pairs(dsp_odd(four), ones, sum);
    input += 4;
  }
  for (; left > 0; --left) {
    sum += *input++;
  }
  return filter_offset * sum;
}

// Whole blocks from `first` on. The filter has no offset, or the layer has no bias.
DSP_OUT_OF_LINE static void multiply_blocks(const dsp_matrix *matrix, const int8_t *input, int32_t first, int32_t end,
                                            int8_t *output) {
  const int32_t start = offset_sum(matrix, input);
  const int32_t no_bias[4] = { start, start, start, start };
  const cmsis_nn_fc_params *const params = matrix->params;
  const uint32_t groups = (uint32_t)matrix->inputs / 4;
  const int32_t step = matrix->step, offset = params->input_offset;
  const dsp_range range = dsp_make_range(params->output_offset, params->activation.min, params->activation.max);
  matrix_block block;
  block.input = input;
  block.offsets = dsp_pair(offset, offset);
  block.apart = matrix->inputs;
  block.filter = &matrix->filter[first * matrix->inputs];
  block.bias = matrix->bias == NULL ? no_bias : &matrix->bias[first];
  block.output = &output[first];
  block.output_end = &output[end];
  block.multiplier = &matrix->multiplier[first * step];
  block.shift = &matrix->shift[first * step];
  block.step = step * (int32_t)sizeof *matrix->shift;
  block.half_offset = range.half_offset;
  block.saturated_min = range.saturated_min;
  block.min = range.min;
  block.groups_code = (-groups & (UNROLLED_GROUPS - 1)) * GROUP_CODE_BYTES;
  block.groups_end = dsp_address(&input[groups * 4]);
  block.input_end = dsp_address(&input[matrix->inputs]);
  block.stops = is_fast(matrix, &range, first, end) ? 0 : UINT32_C(1) << 31;
  block.bias_step = matrix->bias == NULL ? 0 : 4 * (int32_t)sizeof *matrix->bias;
  for (;;) {
    multiply_matrix(&block);
    if (block.output == block.output_end) {
      return;
    }
    const int32_t c = (int32_t)(block.output - output);
    const int32_t value0 = requantize(matrix, c, block.sums[0]), value1 = requantize(matrix, c + 1, block.sums[1]);
    const int32_t value2 = requantize(matrix, c + 2, block.sums[2]), value3 = requantize(matrix, c + 3, block.sums[3]);
    dsp_store4(block.output, dsp_pack4(value0, value1, value2, value3));
    block.output += 4;
    if (block.output == block.output_end) {
      return;
    }
    block.multiplier += 4 * step;
    block.shift += 4 * step;
  }
}

#endif

// Sums of two outputs, from their biases on.
static void multiply_rows(const dsp_matrix *matrix, const int8_t *input, const int8_t *filter0, const int8_t *filter1,
                          int32_t *sums) {
  const int32_t input_offset = matrix->params->input_offset, filter_offset = matrix->params->filter_offset;
  const uint32_t input_offsets = dsp_pair(input_offset, input_offset);
  const uint32_t filter_offsets = dsp_pair(filter_offset, filter_offset);
  const int8_t *const end = input + matrix->inputs, *const whole = input + (matrix->inputs & ~3);
  int32_t sum0 = sums[0], sum1 = sums[1];
  while (input != whole) {
    const uint32_t values = dsp_load4(input), weights0 = dsp_load4(filter0), weights1 = dsp_load4(filter1);
    const uint32_t even = dsp_add_even(input_offsets, values), odd = dsp_add_odd(input_offsets, values);
    sum0 = dsp_multiply_pairs(even, dsp_add_even(filter_offsets, weights0), sum0);
    sum0 = dsp_multiply_pairs(odd, dsp_add_odd(filter_offsets, weights0), sum0);
    sum1 = dsp_multiply_pairs(even, dsp_add_even(filter_offsets, weights1), sum1);
    sum1 = dsp_multiply_pairs(odd, dsp_add_odd(filter_offsets, weights1), sum1);
    input += 4;
    filter0 += 4;
    filter1 += 4;
  }
  while (input != end) {
    const int32_t value = *input++ + input_offset;
    sum0 += value * (*filter0++ + filter_offset);
    sum1 += value * (*filter1++ + filter_offset);
  }
  sums[0] = sum0;
  sums[1] = sum1;
}

// One output, whatever its numbers.
DSP_OUT_OF_LINE static int32_t multiply_one(const dsp_matrix *matrix, const int8_t *input, int32_t c) {
  const uint32_t input_offsets = dsp_pair(matrix->params->input_offset, matrix->params->input_offset);
  const uint32_t filter_offsets = dsp_pair(matrix->params->filter_offset, matrix->params->filter_offset);
  const int8_t *filter = &matrix->filter[c * matrix->inputs];
  int32_t sum = matrix->bias == NULL ? 0 : matrix->bias[c];
  const int8_t *const whole = input + (matrix->inputs & ~3);
  while (input != whole) {
    const uint32_t values = dsp_load4(input), weights = dsp_load4(filter);
    sum = dsp_multiply_pairs(dsp_add_even(input_offsets, values), dsp_add_even(filter_offsets, weights), sum);
    sum = dsp_multiply_pairs(dsp_add_odd(input_offsets, values), dsp_add_odd(filter_offsets, weights), sum);
    input += 4;
    filter += 4;
  }
  for (int32_t left = matrix->inputs & 3; left > 0; --left) {
    sum += (*input++ + dsp_low(input_offsets)) * (*filter++ + dsp_low(filter_offsets));
  }
  return output_of(matrix, c, sum);
}

// Two to four outputs, whatever their numbers.
DSP_OUT_OF_LINE static void multiply_some(const dsp_matrix *matrix, const int8_t *input, int32_t first, int32_t count,
                                          int8_t *output) {
  uint32_t word = 0;
  for (int32_t i = 0; i < count; i += 2) {
    // The third of three is its own second: code that is loaded already.
    const int32_t c0 = first + i, c1 = i + 1 < count ? c0 + 1 : c0;
    int32_t sums[2] = { 0, 0 };
    if (matrix->bias != NULL) {
      sums[0] = matrix->bias[c0];
      sums[1] = matrix->bias[c1];
    }
    multiply_rows(matrix, input, &matrix->filter[c0 * matrix->inputs], &matrix->filter[c1 * matrix->inputs], sums);
    word |= (uint32_t)(uint8_t)requantize(matrix, c0, sums[0]) << (8 * i);
    if (c1 != c0) {
      word |= (uint32_t)(uint8_t)requantize(matrix, c1, sums[1]) << (8 * i + 8);
    }
  }
  dsp_store_some(&output[first], word, count);
}

#if DSP_INSTRUCTIONS

// One or two outputs behind blocks, by code that is small: it runs but once.
static void multiply_last(const dsp_matrix *matrix, const int8_t *input, int32_t first, int32_t end, int8_t *output) {
  const int32_t last = multiply_one(matrix, input, end - 1);
  if (first + 1 != end) {
    output[first] = (int8_t)multiply_one(matrix, input, first);
  }
  output[end - 1] = (int8_t)last;
}

#endif

void dsp_multiply_matrix(const dsp_matrix *matrix, const int8_t *input, int32_t first, int32_t end, int8_t *output) {
#if DSP_INSTRUCTIONS
  if (first + 4 <= end && (matrix->params->filter_offset == 0 || matrix->bias == NULL)) {
    const int32_t rest = (end - first) % 4;
    multiply_blocks(matrix, input, first, end - rest, output);
    if (rest == 3) {
      // With the output before them, which is stored again.
      multiply_blocks(matrix, input, end - 4, end, output);
    } else if (rest != 0) {
      multiply_last(matrix, input, end - rest, end, output);
    }
    return;
  }
#endif
  for (; first + 1 < end; first += 4) {
    multiply_some(matrix, input, first, end - first < 4 ? end - first : 4, output);
  }
  if (first + 1 == end) {
    output[first] = (int8_t)multiply_one(matrix, input, first);
  }
}
