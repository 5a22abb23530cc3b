// SPDX-License-Identifier: MIT OR Apache-2.0
#include "packed_multiply.h"

// Words of bias, shift and multiplier of two channels.
enum { NUMBERS_WORDS = 4 };

#if DSP_INSTRUCTIONS

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

packed_layer packed_prepare(const dsp_range *range, const uint32_t *rows, int32_t groups, const uint32_t *packed,
                            int32_t channels) {
  const int32_t skipped = (UNROLLED_GROUPS - groups % UNROLLED_GROUPS) % UNROLLED_GROUPS;
  const int32_t group_bytes = DSP_GROUP_WORDS * (int32_t)sizeof *rows, pair_words = 2 * groups + NUMBERS_WORDS;
  return (packed_layer){
    .packed = packed,
    .channels = channels,
    .pair_words = pair_words,
    .block = {
      .rows = dsp_address(rows) - (uint32_t)(skipped * group_bytes),
      .rows_last = dsp_address(rows) + (uint32_t)((groups - UNROLLED_GROUPS) * group_bytes),
      .skipped_code_bytes = (uint32_t)(skipped * GROUP_CODE_BYTES),
      .half_offset = range->half_offset,
      .packed_end = packed + channels / 2 * pair_words,
      .saturated_min = range->saturated_min,
      .min = range->min,
    },
    .multiply = dsp_fast_way(range) == DSP_SATURATE ? multiply_saturate : multiply_clamp,
  };
}

// Stores two outputs of each pixel at a time, from the pair of channels that lies at `packed` on.
static void multiply_pairs(packed_layer *layer, const uint32_t *packed, int8_t *output, int32_t step, int32_t pixels) {
  packed_block *const block = &layer->block;
  block->output = output;
  block->step1 = pixels > 1 ? step : 0;
  block->step2 = pixels > 2 ? step : 0;
  block->step3 = pixels > 3 ? step : 0;
  layer->multiply(block, packed);
}

// The last channel of an odd number, which has a pair for itself.
DSP_OUT_OF_LINE static void multiply_last(packed_layer *layer, int8_t *output, int32_t pixels) {
  const uint32_t *const end = layer->block.packed_end;
  int8_t values[2 * DSP_ROWS];
  layer->block.packed_end = end + layer->pair_words;
  multiply_pairs(layer, end, values, 2, pixels);
  layer->block.packed_end = end;
  for (int32_t i = 0; i < pixels; ++i) {
    output[(i + 1) * layer->channels - 1] = values[2 * i];
  }
}

void packed_multiply(packed_layer *layer, int8_t *output, int32_t pixels) {
  if (layer->channels > 1) {
    multiply_pairs(layer, layer->packed, output, layer->channels, pixels);
  }
  if (layer->channels % 2 != 0) {
    multiply_last(layer, output, pixels);
  }
}

#else

packed_layer packed_prepare(const dsp_range *range, const uint32_t *rows, int32_t groups, const uint32_t *packed,
                            int32_t channels) {
  return (packed_layer){ packed, channels, 2 * groups + NUMBERS_WORDS, *range, rows, groups };
}

static int8_t requantize(const dsp_range *range, const uint32_t *numbers, int32_t sum) {
  const int32_t start = (int32_t)numbers[0], multiplier = (int32_t)numbers[1];
  const int32_t shift = (start & 15) + 1, bias = start >> 5;
  const dsp_channel channel = dsp_make_channel(DSP_CLAMP, range, multiplier, -shift);
  return (int8_t)dsp_requantize(DSP_CLAMP, range, channel, 2 * (bias + sum));
}

// The same in C.
void packed_multiply(packed_layer *layer, int8_t *output, int32_t pixels) {
  const uint32_t *packed = layer->packed;
  for (int32_t c = 0; c < layer->channels; c += 2, packed += layer->pair_words) {
    const uint32_t *const numbers = packed + 2 * layer->groups;
    for (int32_t i = 0; i < pixels; ++i) {
      int32_t low = 0, both = 0;
      for (int32_t half = 0; half < 2 * layer->groups; ++half) {
        const uint32_t columns = layer->rows[half / 2 * DSP_GROUP_WORDS + 2 * i + half % 2];
        low = dsp_multiply_pairs(columns, dsp_even(packed[half]), low);
        both = (int32_t)((uint32_t)both + (uint32_t)dsp_multiply_pairs(columns, packed[half], 0));
      }
      const int32_t high = (int32_t)((uint32_t)both - (uint32_t)low) / 256;
      int8_t *const to = &output[i * layer->channels + c];
      to[0] = requantize(&layer->range, numbers, low);
      if (c + 1 < layer->channels) {
        to[1] = requantize(&layer->range, numbers + 2, high);
      }
    }
  }
}

#endif
