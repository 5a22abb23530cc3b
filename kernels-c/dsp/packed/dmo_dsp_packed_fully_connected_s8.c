// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_dsp_packed.h"
#include "dsp.h"

enum { BLOCK_OUTPUTS = 8, GROUP_INPUTS = 4, GROUP_WORDS = BLOCK_OUTPUTS };

#if DSP_INSTRUCTIONS

// What the assembly has on its stack, in this order.
typedef struct {
  int8_t *output;
  uint32_t packed_end;           // address, a word less
  const int8_t *input, *input_end;
  uint32_t skipped_code_bytes;   // the assembly makes it an address
  int32_t skipped_bytes;         // of the packed weights
  int32_t multiplier, bias, shift; // of dsp_channel, the shift one less
  int32_t saturated_min, min;    // of dsp_range
} matrix_block;

//   r4 to r7 sums of p, r8 to r11 sums of 256 * q + p   r0 input   r1 packed, a word less
//   r2, r3 numbers of two pairs of outputs
//   lr columns, r12 two of them
// and after the columns
//   r2 multiplier   r3 bias   r12 shift   r0, lr starts
#define MULTIPLY_PAIR(numbers, low, both)       \
  "smlad " both ", r12, " numbers ", " both "\n\t" \
  "sxtb16 " numbers ", " numbers "\n\t"         \
  "smlad " low ", r12, " numbers ", " low "\n\t"
#define MULTIPLY_GROUP(word0, word1, word2, word3, word4, word5, word6, last_word) \
  "ldr.w lr, [r0], #4\n\t"                                                     \
  "ldr.n r2, [r1, #" word0 "]\n\t"                                             \
  "ldr.n r3, [r1, #" word1 "]\n\t"                                             \
  "sxtb16 r12, lr\n\t"                                                         \
  MULTIPLY_PAIR("r2", "r4", "r8") MULTIPLY_PAIR("r3", "r5", "r9")              \
  "ldr.n r2, [r1, #" word2 "]\n\t"                                             \
  "ldr.n r3, [r1, #" word3 "]\n\t"                                             \
  MULTIPLY_PAIR("r2", "r6", "r10") MULTIPLY_PAIR("r3", "r7", "r11")            \
  "ldr.n r2, [r1, #" word4 "]\n\t"                                             \
  "ldr.n r3, [r1, #" word5 "]\n\t"                                             \
  "sxtb16 r12, lr, ror #8\n\t"                                                 \
  MULTIPLY_PAIR("r2", "r4", "r8") MULTIPLY_PAIR("r3", "r5", "r9")              \
  "ldr.n r2, [r1, #" word6 "]\n\t"                                             \
  last_word                                                                    \
  MULTIPLY_PAIR("r2", "r6", "r10") MULTIPLY_PAIR("r3", "r7", "r11")
// Bytes of code for a group, and groups in a row. The instructions that end the loop are in the last group, which is
// never skipped.
enum { GROUP_CODE_BYTES = 124, UNROLLED_GROUPS = 4 };

#define REQUANTIZE(sum, start, doubled)     \
  "add " sum ", " start ", " sum ", " doubled "\n\t" \
  "add " start ", r3, " sum ", asr #31\n\t" \
  "smmlar " sum ", " sum ", r2, " start "\n\t" \
  "asr " sum ", " sum ", r12\n\t"           \
  "ssat " sum ", #8, " sum ", asr #1\n\t"
#define REQUANTIZE_PAIR(low, both, start_p, start_q) \
  "ldr r0, [r1, #" start_p "]\n\t"          \
  "ldr lr, [r1, #" start_q "]\n\t"          \
  "sub " both ", " both ", " low "\n\t"     \
  REQUANTIZE(low, "r0", "lsl #1")           \
  REQUANTIZE(both, "lr", "asr #7")
#define CLAMP(value)                  \
  "sub " value ", " value ", r2\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r3\n\t"
#define CLAMP_ALL                                         \
  "ldrd r2, r3, [sp, #36]\n\t"                            \
  CLAMP("r4") CLAMP("r5") CLAMP("r6") CLAMP("r7")         \
  CLAMP("r8") CLAMP("r9") CLAMP("r10") CLAMP("r11")
#define MULTIPLY(clamp)                                                       \
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"          \
                   "ldm r0, {r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}\n\t" \
                   "adr.w r0, 2f\n\t"                                         \
                   "add r6, r6, r0\n\t"                                       \
                   "orr r6, r6, #1\n\t"                                       \
                   "push {r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}\n\t" \
                   ".balign 4\n"                                              \
                   "1:\n\t"                                                   \
                   "ldr r0, [sp, #8]\n\t"                                     \
                   "ldr r12, [sp, #16]\n\t"                                   \
                   "ldr r2, [sp, #20]\n\t"                                    \
                   "movs r4, #0\n\t"                                          \
                   "movs r5, #0\n\t"                                          \
                   "movs r6, #0\n\t"                                          \
                   "movs r7, #0\n\t"                                          \
                   "mov r8, r4\n\t"                                           \
                   "mov r9, r4\n\t"                                           \
                   "mov r10, r4\n\t"                                          \
                   "mov r11, r4\n\t"                                          \
                   "subs r1, r1, r2\n\t"                                      \
                   "bx r12\n\t"                                               \
                   ".balign 4\n"                                              \
                   "2:\n\t"                                                   \
                   MULTIPLY_GROUP("4", "8", "12", "16", "20", "24", "28", "ldr.n r3, [r1, #32]\n\t") \
                   MULTIPLY_GROUP("36", "40", "44", "48", "52", "56", "60", "ldr.n r3, [r1, #64]\n\t") \
                   MULTIPLY_GROUP("68", "72", "76", "80", "84", "88", "92", "ldr.n r3, [r1, #96]\n\t") \
                   MULTIPLY_GROUP("100", "104", "108", "112", "116", "120", "124",   \
                                  "ldr.w lr, [sp, #12]\n\t"                   \
                                  "ldr.w r3, [r1, #128]!\n\t"                 \
                                  "cmp r0, lr\n\t")                           \
                   "bne.w 2b\n\t"                                             \
                   "ldr r2, [sp, #24]\n\t"                                    \
                   "ldr r3, [sp, #28]\n\t"                                    \
                   "ldr r12, [sp, #32]\n\t"                                   \
                   REQUANTIZE_PAIR("r4", "r8", "4", "8")                      \
                   REQUANTIZE_PAIR("r5", "r9", "12", "16")                    \
                   REQUANTIZE_PAIR("r6", "r10", "20", "24")                   \
                   REQUANTIZE_PAIR("r7", "r11", "28", "32")                   \
                   "adds r1, r1, #32\n\t"                                     \
                   clamp                                                      \
                   "ldr r0, [sp]\n\t"                                         \
                   "ldr r2, [sp, #4]\n\t"                                     \
                   "bfi r4, r8, #8, #8\n\t"                                   \
                   "bfi r4, r5, #16, #8\n\t"                                  \
                   "bfi r4, r9, #24, #8\n\t"                                  \
                   "bfi r6, r10, #8, #8\n\t"                                  \
                   "bfi r6, r7, #16, #8\n\t"                                  \
                   "bfi r6, r11, #24, #8\n\t"                                 \
                   "str r4, [r0], #4\n\t"                                     \
                   "str r6, [r0], #4\n\t"                                     \
                   "str r0, [sp]\n\t"                                         \
                   "cmp r1, r2\n\t"                                           \
                   "bne.w 1b\n\t"                                             \
                   "add sp, sp, #44\n\t"                                      \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}")

// The arguments are in r0 and r1, as the procedure call standard says.
DSP_NAKED static void multiply_saturate(DSP_UNUSED const matrix_block *block, DSP_UNUSED uint32_t packed) {
  MULTIPLY("");
}

DSP_NAKED static void multiply_clamp(DSP_UNUSED const matrix_block *block, DSP_UNUSED uint32_t packed) {
  MULTIPLY(CLAMP_ALL);
}

// `blocks` blocks of eight outputs, at least one.
static void multiply_blocks(const dmo_dsp_packed_fully_connected_params *params, int32_t inputs, const int8_t *input,
                            const uint32_t *packed, int32_t blocks, int8_t *output) {
  const dsp_range range = dsp_make_range(params->output_offset, params->activation_min, params->activation_max);
  const dsp_channel channel = dsp_make_channel(DSP_CLAMP, &range, params->multiplier, params->shift);
  const int32_t groups = inputs / GROUP_INPUTS;
  const int32_t skipped = (UNROLLED_GROUPS - groups % UNROLLED_GROUPS) % UNROLLED_GROUPS;
  const matrix_block block = {
    .output = output,
    .packed_end = dsp_address(packed + blocks * (groups + 1) * GROUP_WORDS - 1),
    .input = input,
    .input_end = input + inputs,
    .skipped_code_bytes = (uint32_t)(skipped * GROUP_CODE_BYTES),
    .skipped_bytes = skipped * GROUP_WORDS * (int32_t)sizeof *packed,
    .multiplier = channel.multiplier,
    .bias = channel.bias,
    .shift = channel.shift - 1,
    .saturated_min = range.saturated_min,
    .min = range.min,
  };
  if (dsp_fast_way(&range) == DSP_SATURATE) {
    multiply_saturate(&block, dsp_address(packed) - (uint32_t)sizeof *packed);
  } else {
    multiply_clamp(&block, dsp_address(packed) - (uint32_t)sizeof *packed);
  }
}

#else

// The same in C.
static void multiply_blocks(const dmo_dsp_packed_fully_connected_params *params, int32_t inputs, const int8_t *input,
                            const uint32_t *packed, int32_t blocks, int8_t *output) {
  const dsp_range range = dsp_make_range(params->output_offset, params->activation_min, params->activation_max);
  const dsp_channel channel = dsp_make_channel(DSP_CLAMP, &range, params->multiplier, params->shift);
  for (; blocks != 0; --blocks) {
    int32_t low[BLOCK_OUTPUTS / 2] = { 0 }, both[BLOCK_OUTPUTS / 2] = { 0 };
    for (int32_t i = 0; i < inputs; i += GROUP_INPUTS) {
      const uint32_t columns = dsp_load4(&input[i]);
      for (int32_t word = 0; word < GROUP_WORDS; ++word) {
        const uint32_t weights = *packed++, pair = word < GROUP_WORDS / 2 ? dsp_even(columns) : dsp_odd(columns);
        int32_t *const sum = &both[word % (GROUP_WORDS / 2)];
        *sum = (int32_t)((uint32_t)*sum + (uint32_t)dsp_multiply_pairs(pair, weights, 0));
        low[word % (GROUP_WORDS / 2)] += dsp_multiply_pairs(pair, dsp_even(weights), 0);
      }
    }
    int8_t values[BLOCK_OUTPUTS];
    for (int32_t i = 0; i < BLOCK_OUTPUTS; ++i) {
      const int32_t p = low[i / 2], q = (int32_t)((uint32_t)both[i / 2] - (uint32_t)p) / 256;
      const int32_t doubled = (int32_t)*packed++ + 2 * (i % 2 == 0 ? p : q);
      values[i] = (int8_t)dsp_requantize(DSP_CLAMP, &range, channel, doubled);
    }
    memcpy(output, values, sizeof values);
    output += BLOCK_OUTPUTS;
  }
}

#endif

void dmo_dsp_packed_fully_connected_s8(const dmo_dsp_packed_fully_connected_params *params, int32_t batches, int32_t inputs,
                                   int32_t outputs, const int8_t *input, const uint32_t *packed, int8_t *output) {
  const int32_t blocks = outputs / BLOCK_OUTPUTS, rest = outputs % BLOCK_OUTPUTS;
  for (int32_t b = 0; b < batches; ++b) {
    if (blocks != 0) {
      multiply_blocks(params, inputs, input, packed, blocks, output);
    }
    if (rest != 0) {
      uint32_t last[BLOCK_OUTPUTS / sizeof(uint32_t)];
      const int8_t *const values = (const int8_t *)last;
      multiply_blocks(params, inputs, input, packed + blocks * (inputs / GROUP_INPUTS + 1) * GROUP_WORDS, 1,
                      (int8_t *)last);
      for (int32_t i = 0; i < rest; ++i) {
        output[blocks * BLOCK_OUTPUTS + i] = values[i];
      }
    }
    input += inputs;
    output += outputs;
  }
}
