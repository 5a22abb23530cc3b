// SPDX-License-Identifier: MIT OR Apache-2.0
#include "packed_multiply.h"

// Words of bias, shift and multiplier of two channels.
enum { NUMBERS_WORDS = 4 };

#if DSP_INSTRUCTIONS

// What the assembly has on its stack, in this order.
typedef struct {
  int8_t *output;                      // of the first pixel, and bytes from one pixel to the next
  int32_t step1, step2, step3;
  uint32_t rows, rows_last;            // addresses; lowered by the groups that are skipped, and the start of the last block
  uint32_t skipped_code_bytes;         // the assembly makes it an address
  int32_t half_offset;                 // of dsp_range
  const uint32_t *packed_end;
  int32_t saturated_min, min;          // of dsp_range
} packed_block;

//   r6 to r9 sums of p, r10 to r12 and lr sums of 256 * q + p, each of four pixels
//   r0 rows   r1 packed   r2 numbers of two columns, r3 their low bytes   r4, r5 columns of two rows
// and after the columns
//   r0 start   r4 multiplier   r2 bias   r5 shift   r3 temporary
//
// Half a group: columns 0 and 2, or 1 and 3. Loads stand together, because one after another takes a cycle less.
#define MULTIPLY_HALF(row0, row1, row2, row3, between) \
  "ldr.w r2, [r1], #4\n\t"                             \
  "ldr.n r4, [r0, #" row0 "]\n\t"                      \
  "ldr.n r5, [r0, #" row1 "]\n\t"                      \
  between                                              \
  "sxtb16 r3, r2\n\t"                                  \
  "smlad r10, r4, r2, r10\n\t"                         \
  "smlad r6, r4, r3, r6\n\t"                           \
  "smlad r11, r5, r2, r11\n\t"                         \
  "smlad r7, r5, r3, r7\n\t"                           \
  "ldr.n r4, [r0, #" row2 "]\n\t"                      \
  "ldr.n r5, [r0, #" row3 "]\n\t"                      \
  "smlad r12, r4, r2, r12\n\t"                         \
  "smlad r8, r4, r3, r8\n\t"                           \
  "smlad lr, r5, r2, lr\n\t"                           \
  "smlad r9, r5, r3, r9\n\t"
#define MULTIPLY_GROUPS                                            \
  MULTIPLY_HALF("0", "8", "16", "24", "")                          \
  MULTIPLY_HALF("4", "12", "20", "28", "")                         \
  MULTIPLY_HALF("32", "40", "48", "56", "")                        \
  MULTIPLY_HALF("36", "44", "52", "60", "")                        \
  MULTIPLY_HALF("64", "72", "80", "88", "")                        \
  MULTIPLY_HALF("68", "76", "84", "92", "")                        \
  MULTIPLY_HALF("96", "104", "112", "120", "")                     \
  MULTIPLY_HALF("100", "108", "116", "124", "ldr r3, [sp, #20]\n\t" \
                                            "cmp r0, r3\n\t")      \
  "add.w r0, r0, #128\n\t"
// Bytes of code for a group, and groups in a row. The instructions that end the loop are in the last group, which is
// never skipped.
enum { GROUP_CODE_BYTES = 96, UNROLLED_GROUPS = 4 };

// The next channel's numbers, `start` bytes after r1.
#define LOAD_CHANNEL(start, multiplier) \
  "ldr r2, [sp, #28]\n\t"               \
  "ldr r0, [r1, #" start "]\n\t"        \
  "ldr r4, [r1, #" multiplier "]\n\t"   \
  "and r5, r0, #15\n\t"                 \
  "asrs r0, r0, #4\n\t"                 \
  "lsls r2, r2, r5\n\t"
#define REQUANTIZE(sum, doubled)            \
  "add " sum ", r0, " sum ", " doubled "\n\t" \
  "add r3, r2, " sum ", asr #31\n\t"        \
  "smmlar " sum ", " sum ", r4, r3\n\t"     \
  "asr " sum ", " sum ", r5\n\t"            \
  "ssat " sum ", #8, " sum ", asr #1\n\t"
#define REQUANTIZE_P(sum) REQUANTIZE(sum, "lsl #1")
#define REQUANTIZE_Q(sum) REQUANTIZE(sum, "asr #7")
#define CLAMP(value)                  \
  "sub " value ", " value ", r2\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r3\n\t"
#define CLAMP_ALL                                         \
  "ldrd r2, r3, [sp, #36]\n\t"                            \
  CLAMP("r6") CLAMP("r7") CLAMP("r8") CLAMP("r9")         \
  CLAMP("r10") CLAMP("r11") CLAMP("r12") CLAMP("lr")
#define MULTIPLY(clamp)                                                       \
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"          \
                   "ldm r0, {r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}\n\t" \
                   "adr.w r0, 2f\n\t"                                         \
                   "add r8, r8, r0\n\t"                                       \
                   "orr r8, r8, #1\n\t"                                       \
                   "push {r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}\n\t" \
                   ".balign 4\n"                                              \
                   "1:\n\t"                                                   \
                   "ldr r0, [sp, #16]\n\t"                                    \
                   "ldr r4, [sp, #24]\n\t"                                    \
                   "movs r6, #0\n\t"                                          \
                   "movs r7, #0\n\t"                                          \
                   "mov r8, r6\n\t"                                           \
                   "mov r9, r6\n\t"                                           \
                   "mov r10, r6\n\t"                                          \
                   "mov r11, r6\n\t"                                          \
                   "mov r12, r6\n\t"                                          \
                   "mov lr, r6\n\t"                                           \
                   "bx r4\n\t"                                                \
                   ".balign 4\n"                                              \
                   "2:\n\t"                                                   \
                   MULTIPLY_GROUPS                                            \
                   "bne.w 2b\n\t"                                             \
                   "sub r10, r10, r6\n\t"                                     \
                   "sub r11, r11, r7\n\t"                                     \
                   "sub r12, r12, r8\n\t"                                     \
                   "sub lr, lr, r9\n\t"                                       \
                   LOAD_CHANNEL("0", "4")                                     \
                   REQUANTIZE_P("r6") REQUANTIZE_P("r7")                      \
                   REQUANTIZE_P("r8") REQUANTIZE_P("r9")                      \
                   LOAD_CHANNEL("8", "12")                                    \
                   REQUANTIZE_Q("r10") REQUANTIZE_Q("r11")                    \
                   REQUANTIZE_Q("r12") REQUANTIZE_Q("lr")                     \
                   clamp                                                      \
                   "ldm sp, {r2, r3, r4, r5}\n\t"                             \
                   "ldr r0, [sp, #32]\n\t"                                    \
                   "adds r1, #16\n\t"                                         \
                   "bfi r6, r10, #8, #8\n\t"                                  \
                   "bfi r7, r11, #8, #8\n\t"                                  \
                   "add r3, r3, r2\n\t"                                       \
                   "add r4, r4, r3\n\t"                                       \
                   "add r5, r5, r4\n\t"                                       \
                   "bfi r8, r12, #8, #8\n\t"                                  \
                   "bfi r9, lr, #8, #8\n\t"                                   \
                   "strh r6, [r2], #2\n\t"                                    \
                   "strh r7, [r3]\n\t"                                        \
                   "strh r8, [r4]\n\t"                                        \
                   "strh r9, [r5]\n\t"                                        \
                   "str r2, [sp]\n\t"                                         \
                   "cmp r1, r0\n\t"                                           \
                   "bne.w 1b\n\t"                                             \
                   "add sp, sp, #44\n\t"                                      \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}")

// The arguments are in r0 and r1, as the procedure call standard says.
DSP_NAKED static void multiply_saturate(DSP_UNUSED const packed_block *block, DSP_UNUSED const uint32_t *packed) {
  MULTIPLY("");
}

DSP_NAKED static void multiply_clamp(DSP_UNUSED const packed_block *block, DSP_UNUSED const uint32_t *packed) {
  MULTIPLY(CLAMP_ALL);
}

void packed_multiply(const packed_layer *layer, int8_t *output, int32_t step1, int32_t step2, int32_t step3) {
  const int32_t groups = layer->groups;
  const int32_t skipped = (UNROLLED_GROUPS - groups % UNROLLED_GROUPS) % UNROLLED_GROUPS;
  const int32_t group_bytes = DSP_GROUP_WORDS * (int32_t)sizeof *layer->rows;
  const int32_t pair_words = 2 * groups + NUMBERS_WORDS;
  const packed_block block = {
    .output = output,
    .step1 = step1,
    .step2 = step2,
    .step3 = step3,
    .rows = dsp_address(layer->rows) - (uint32_t)(skipped * group_bytes),
    .rows_last = dsp_address(layer->rows) + (uint32_t)((groups - UNROLLED_GROUPS) * group_bytes),
    .skipped_code_bytes = (uint32_t)(skipped * GROUP_CODE_BYTES),
    .half_offset = layer->range.half_offset,
    .packed_end = layer->packed + layer->channels / 2 * pair_words,
    .saturated_min = layer->range.saturated_min,
    .min = layer->range.min,
  };
  if (dsp_fast_way(&layer->range) == DSP_SATURATE) {
    multiply_saturate(&block, layer->packed);
  } else {
    multiply_clamp(&block, layer->packed);
  }
}

#else

static int8_t requantize(const dsp_range *range, const uint32_t *numbers, int32_t sum) {
  const int32_t start = (int32_t)numbers[0], multiplier = (int32_t)numbers[1];
  const int32_t shift = (start & 15) + 1, bias = start >> 5;
  const dsp_channel channel = dsp_make_channel(DSP_CLAMP, range, multiplier, -shift);
  return (int8_t)dsp_requantize(DSP_CLAMP, range, channel, 2 * (bias + sum));
}

// The same in C.
void packed_multiply(const packed_layer *layer, int8_t *output, int32_t step1, int32_t step2, int32_t step3) {
  int8_t *const outputs[DSP_ROWS] = { output, output + step1, output + step1 + step2, output + step1 + step2 + step3 };
  const uint32_t *packed = layer->packed;
  for (int32_t c = 0; c < layer->channels; c += 2) {
    int32_t low[DSP_ROWS] = { 0 }, both[DSP_ROWS] = { 0 };
    const uint32_t *row = layer->rows;
    for (int32_t half = 0; half < 2 * layer->groups; ++half) {
      const uint32_t weights = packed[half], *const columns = &row[half / 2 * DSP_GROUP_WORDS + half % 2];
      for (int32_t i = 0; i < DSP_ROWS; ++i) {
        low[i] = dsp_multiply_pairs(columns[2 * i], dsp_even(weights), low[i]);
        both[i] = (int32_t)((uint32_t)both[i] + (uint32_t)dsp_multiply_pairs(columns[2 * i], weights, 0));
      }
    }
    packed += 2 * layer->groups;
    for (int32_t i = 0; i < DSP_ROWS; ++i) {
      const int32_t high = (int32_t)((uint32_t)both[i] - (uint32_t)low[i]) / 256;
      outputs[i][c] = requantize(&layer->range, packed, low[i]);
      outputs[i][c + 1] = requantize(&layer->range, packed + 2, high);
    }
    packed += NUMBERS_WORDS;
  }
}

#endif
