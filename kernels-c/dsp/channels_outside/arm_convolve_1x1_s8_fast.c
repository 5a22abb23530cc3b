// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Output channels outside, pixels inside. The filters of four channels are the rows, and the input runs against them.
#include "dsp_convolve.h"

// What the assembly reads one word after the other: the sums' starts, the rows, and then for two channels at a time
// multiplier, bias and shift of both. The rows are as long as the filters are, so this is laid out by hand.
enum { START_WORDS = DSP_ROWS, TAIL_WORDS = 3 * DSP_ROWS };

typedef struct {
  const dsp_filters *filters;
  uint32_t *memory;      // starts, rows, tail
  int32_t first, count;  // channels
} channel_block;

// Fills in four channels from `first`; those beyond the last are copies of the last.
static void load_block(channel_block *block, int32_t first, int32_t input_offset) {
  const dsp_filters *filters = block->filters;
  const bool doubled = filters->way != DSP_EXACT;
  uint32_t *const rows = block->memory + START_WORDS;
  uint32_t *const tail = rows + dsp_row_words(filters->columns);
  block->first = first;
  block->count = filters->channels - first < DSP_ROWS ? filters->channels - first : DSP_ROWS;
  for (int32_t i = 0; i < DSP_ROWS; ++i) {
    const int32_t c = first + (i < block->count ? i : block->count - 1);
    const int8_t *filter = &filters->filter[c * filters->columns];
    dsp_widen(&rows[2 * i], filter, filters->columns, 0, doubled);
    int32_t sum = 0;
    for (int32_t k = 0; k < filters->columns; ++k) {
      sum += filter[k];
    }
    sum = sum * input_offset + (filters->bias == NULL ? 0 : filters->bias[c]);
    block->memory[i] = (uint32_t)(doubled ? 2 * sum : sum);
    const dsp_channel channel =
        dsp_make_channel(filters->way, &filters->range, filters->multiplier[c], filters->shift[c]);
    tail[3 * i] = (uint32_t)channel.multiplier;
    tail[3 * i + 1] = (uint32_t)channel.bias;
    tail[3 * i + 2] = (uint32_t)channel.shift;
  }
}

#if DSP_INSTRUCTIONS

// All pixels by four channels, in the fast ways; whole groups only.
//
// The stack holds memory and groups; bytes from one output pixel to the next, the end of the input; least, min.
//
//   r0 memory   r1 groups, then a multiplier   r3 to r6 columns, r7, r8 columns of the input, then two channels
//   r2, r9, r10, r11 sums, then values         r12 input         lr output
#define MULTIPLY_GROUP                \
  "ldr r7, [r12], #4\n\t"             \
  "ldmia r0!, {r3, r4, r5, r6}\n\t"   \
  "sxtb16 r8, r7, ror #8\n\t"         \
  "sxtb16 r7, r7\n\t"                 \
  "smlad r2, r3, r7, r2\n\t"          \
  "smlad r9, r5, r7, r9\n\t"          \
  "smlad r2, r4, r8, r2\n\t"          \
  "smlad r9, r6, r8, r9\n\t"          \
  "ldmia r0!, {r3, r4, r5, r6}\n\t"   \
  "subs r1, r1, #1\n\t"               \
  "smlad r10, r3, r7, r10\n\t"        \
  "smlad r11, r5, r7, r11\n\t"        \
  "smlad r10, r4, r8, r10\n\t"        \
  "smlad r11, r6, r8, r11\n\t"
#define REQUANTIZE(sum, multiplier, bias, shift)     \
  "add r8, " bias ", " sum ", asr #31\n\t"           \
  "smmlar " sum ", " sum ", " multiplier ", r8\n\t"  \
  "asr " sum ", " sum ", " shift "\n\t"              \
  "ssat " sum ", #8, " sum "\n\t"
#define CLAMP(value)                  \
  "sub " value ", " value ", r0\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r1\n\t"
#define CLAMP_ALL "ldrd r0, r1, [sp, #16]\n\t" CLAMP("r2") CLAMP("r9") CLAMP("r10") CLAMP("r11")
#define MULTIPLY_BLOCK(clamp)                                                          \
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"                   \
                   "ldrd r4, r5, [sp, #36]\n\t"                                        \
                   "ldrd r6, r7, [sp, #44]\n\t"                                        \
                   "mov r12, r2\n\t"                                                   \
                   "mov lr, r3\n\t"                                                    \
                   "push {r0, r1, r4, r5, r6, r7}\n"                                   \
                   "1:\n\t"                                                            \
                   "ldm sp, {r0, r1}\n\t"                                              \
                   "ldmia r0!, {r2, r9, r10, r11}\n"                                   \
                   "2:\n\t"                                                            \
                   MULTIPLY_GROUP                                                      \
                   "bne 2b\n\t"                                                        \
                   "ldmia r0!, {r1, r3, r4, r5, r6, r7}\n\t"                           \
                   REQUANTIZE("r2", "r1", "r3", "r4") REQUANTIZE("r9", "r5", "r6", "r7") \
                   "ldmia r0!, {r1, r3, r4, r5, r6, r7}\n\t"                           \
                   REQUANTIZE("r10", "r1", "r3", "r4") REQUANTIZE("r11", "r5", "r6", "r7") \
                   clamp                                                               \
                   "ldrd r1, r3, [sp, #8]\n\t"                                         \
                   "strb r2, [lr]\n\t"                                                 \
                   "strb r9, [lr, #1]\n\t"                                             \
                   "strb r10, [lr, #2]\n\t"                                            \
                   "strb r11, [lr, #3]\n\t"                                            \
                   "add lr, lr, r1\n\t"                                                \
                   "cmp r12, r3\n\t"                                                   \
                   "bne 1b\n\t"                                                        \
                   "add sp, sp, #24\n\t"                                               \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}")

// The arguments reach the assembly as the procedure call standard says: four in r0 to r3, the others on the stack.
DSP_NAKED static void multiply_block_saturate(DSP_UNUSED const uint32_t *memory, DSP_UNUSED int32_t groups,
                                              DSP_UNUSED const int8_t *input, DSP_UNUSED int8_t *output,
                                              DSP_UNUSED int32_t pixel_bytes, DSP_UNUSED const int8_t *input_end,
                                              DSP_UNUSED int32_t least, DSP_UNUSED int32_t min) {
  MULTIPLY_BLOCK("");
}

DSP_NAKED static void multiply_block_clamp(DSP_UNUSED const uint32_t *memory, DSP_UNUSED int32_t groups,
                                           DSP_UNUSED const int8_t *input, DSP_UNUSED int8_t *output,
                                           DSP_UNUSED int32_t pixel_bytes, DSP_UNUSED const int8_t *input_end,
                                           DSP_UNUSED int32_t least, DSP_UNUSED int32_t min) {
  MULTIPLY_BLOCK(CLAMP_ALL);
}
#endif

// The same in C, for any number of columns and channels, in any way.
static void multiply_any(const channel_block *block, int32_t pixels, const int8_t *input, int8_t *output) {
  const dsp_filters *filters = block->filters;
  const uint32_t *const rows = block->memory + START_WORDS;
  const uint32_t *const tail = rows + dsp_row_words(filters->columns);
  const dsp_sums starts = { (int32_t)block->memory[0], (int32_t)block->memory[1], (int32_t)block->memory[2],
                            (int32_t)block->memory[3] };
  for (int32_t pixel = 0; pixel < pixels; ++pixel) {
    const dsp_sums sums = dsp_multiply(rows, &input[pixel * filters->columns], filters->columns, starts);
    const int32_t row[DSP_ROWS] = { sums.row0, sums.row1, sums.row2, sums.row3 };
    int8_t *const out = &output[pixel * filters->channels + block->first];
    for (int32_t i = 0; i < block->count; ++i) {
      const dsp_channel channel = { (int32_t)tail[3 * i], (int32_t)tail[3 * i + 1], (int32_t)tail[3 * i + 2] };
      out[i] = (int8_t)dsp_requantize(filters->way, &filters->range, channel, row[i]);
    }
  }
}

static void multiply_block(const channel_block *block, int32_t pixels, const int8_t *input, int8_t *output) {
#if DSP_INSTRUCTIONS
  const dsp_filters *filters = block->filters;
  if (block->count == DSP_ROWS && filters->columns % DSP_GROUP_COLUMNS == 0 && filters->way != DSP_EXACT) {
    (filters->way == DSP_SATURATE ? multiply_block_saturate : multiply_block_clamp)(
        block->memory, dsp_groups(filters->columns), input, &output[block->first], filters->channels,
        input + pixels * filters->columns, filters->range.saturated_min, filters->range.min);
    return;
  }
#endif
  multiply_any(block, pixels, input, output);
}

int32_t arm_convolve_1x1_s8_fast_get_buffer_size(const cmsis_nn_dims *input_dims) {
  return (START_WORDS + dsp_row_words(input_dims->c) + TAIL_WORDS) * (int32_t)sizeof(uint32_t);
}

arm_cmsis_nn_status arm_convolve_1x1_s8_fast(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                             const cmsis_nn_per_channel_quant_params *quant_params,
                                             const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                             const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                             const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                             const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)bias_dims;
  if (ctx->buf == NULL || !dsp_is_1x1_fast(conv_params, input_dims, filter_dims, output_dims)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  dsp_filters filters =
      dsp_make_filters(conv_params, quant_params, input_dims->c, filter_data, bias_data, output_dims->c);
  if (filters.some_exact) {
    filters.way = DSP_EXACT;
  }
  channel_block block = { .filters = &filters, .memory = ctx->buf };
  const int32_t pixels = output_dims->n * output_dims->h * output_dims->w;
  for (int32_t first = 0; first < filters.channels && pixels > 0; first += DSP_ROWS) {
    load_block(&block, first, conv_params->input_offset);
    multiply_block(&block, pixels, input_data, output_data);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
