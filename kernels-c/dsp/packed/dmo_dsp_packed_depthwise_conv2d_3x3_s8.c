// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_dsp_packed.h"
#include "dsp.h"

// Pixels of a row are computed a few at a time, by blocks of four channels, so that the weights of a block are loaded
// from slow memory once. Their outputs are kept until all of these pixels' loads are done.
enum { TAPS = 9, BLOCK_CHANNELS = 4, CHANNEL_WORDS = 4, BLOCK_WORDS = TAPS + BLOCK_CHANNELS * CHANNEL_WORDS };
enum { KEPT_BYTES = 384, MOST_PIXELS = 16 };

// What all pixels of a layer share.
typedef struct {
  dsp_range range;
  uint32_t offsets;
  const uint32_t *packed;
  int32_t channels, row; // bytes from one column and from one row of the input to the next
  int32_t step;          // bytes from one window to the next
} depthwise_layer;

// Pixels of a row whose windows have the same rows inside the input.
typedef struct {
  const int8_t *input;     // column 0 of the first window, first row inside; it may lie outside by one column
  int32_t first_row, rows; // of the taps that lie inside
  uint32_t edges;          // two bits for each pixel: whether its first and its last column lie outside
  int32_t count;
} depthwise_pixels;

#if DSP_INSTRUCTIONS

// What the assembly has on its stack, in this order. What is a place in a block of channels advances with the blocks.
typedef struct {
  const int8_t *input;
  uint32_t edges_left, edges;
  int32_t next;                 // bytes from the last row of a window to the first of the next
  uint32_t rows_code;           // bytes of code of the rows that lie outside; the assembly makes it an address
  uint32_t offsets;
  const uint32_t *numbers;
  int8_t *kept, *kept_end;
  const int8_t *channels_end;   // of the input's first row
  int32_t saturated_min, min;   // of dsp_range
} depthwise_block;

//   r0 input          r1 weights         r2, r3 bytes from one column, row to the next     r4 to r7 sums, then values
//   r8 offsets        r9, r10 input, r11, r12 weights: channels 0 and 2, 1 and 3           lr outputs
// and after the taps
//   r8 numbers   r9 start   r10 multiplier   r11 bias   r12 shift
#define ADD_TAP(in, weight)            \
  "ldr.w r10, " in "\n\t"              \
  "ldr.w r12, " weight "\n\t"          \
  "sxtab16 r9, r8, r10\n\t"            \
  "sxtab16 r10, r8, r10, ror #8\n\t"   \
  "sxtb16 r11, r12\n\t"                \
  "sxtb16 r12, r12, ror #8\n\t"        \
  "smlabb r4, r9, r11, r4\n\t"         \
  "smlabb r5, r10, r12, r5\n\t"        \
  "smlatt r6, r9, r11, r6\n\t"         \
  "smlatt r7, r10, r12, r7\n\t"
#define ADD_ROW(weight0, weight1, weight2)           \
  "bmi.w 5f\n\t"                                     \
  ADD_TAP("[r0]", "[r1, #" weight0 "]")              \
  "5:\n\t"                                           \
  ADD_TAP("[r0, r2]", "[r1, #" weight1 "]")          \
  "bcs.w 6f\n\t"                                     \
  ADD_TAP("[r0, r2, lsl #1]", "[r1, #" weight2 "]")  \
  "6:\n\t"
#define NEXT_ROW "add.w r0, r0, r3\n\t"
enum { ROW_CODE_BYTES = 33 * 4 };

#define REQUANTIZE(sum)                           \
  "ldmia r8!, {r9, r10, r11, r12}\n\t"            \
  "add " sum ", r9, " sum ", lsl #1\n\t"          \
  "add r9, r11, " sum ", asr #31\n\t"             \
  "smmlar " sum ", " sum ", r10, r9\n\t"          \
  "asr " sum ", " sum ", r12\n\t"                 \
  "ssat " sum ", #8, " sum ", asr #1\n\t"
#define CLAMP(value)                   \
  "sub " value ", " value ", r9\n\t"   \
  "usat " value ", #8, " value "\n\t"  \
  "add " value ", " value ", r10\n\t"
#define CLAMP_ALL "ldrd r9, r10, [sp, #40]\n\t" CLAMP("r4") CLAMP("r5") CLAMP("r6") CLAMP("r7")
// Adds to a word of the stack.
#define ADVANCE(place, bytes)          \
  "ldr r9, [sp, #" place "]\n\t"       \
  "add r9, r9, #" bytes "\n\t"         \
  "str r9, [sp, #" place "]\n\t"
#define CONVOLVE(clamp)                                                            \
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"               \
                   "sub sp, sp, #48\n\t"                                           \
                   "ldm r0!, {r4, r5, r6, r7, r8, r9, r10}\n\t"                    \
                   "adr.w r11, 3f\n\t"                                             \
                   "add r8, r8, r11\n\t"                                           \
                   "orr r8, r8, #1\n\t"                                            \
                   "mov r12, sp\n\t"                                               \
                   "stm r12!, {r4, r5, r6, r7, r8, r9, r10}\n\t"                   \
                   "ldm r0, {r4, r5, r6, r7, r8}\n\t"                              \
                   "stm r12, {r4, r5, r6, r7, r8}\n\t"                             \
                   ".balign 4\n"                                                   \
                   "1:\n\t"                                                        \
                   "ldr r0, [sp]\n\t"                                              \
                   "ldr lr, [sp, #28]\n\t"                                         \
                   "ldr r9, [sp, #8]\n\t"                                          \
                   "str r9, [sp, #4]\n\t"                                          \
                   ".balign 4\n"                                                   \
                   "2:\n\t"                                                        \
                   "ldr r10, [sp, #4]\n\t"                                         \
                   "ldr r12, [sp, #16]\n\t"                                        \
                   "ldr r8, [sp, #20]\n\t"                                         \
                   "mov r4, #0\n\t"                                                \
                   "mov r5, #0\n\t"                                                \
                   "mov r6, #0\n\t"                                                \
                   "mov r7, #0\n\t"                                                \
                   "lsr r9, r10, #2\n\t"                                           \
                   "str r9, [sp, #4]\n\t"                                          \
                   "lsls r10, r10, #31\n\t"                                        \
                   "bx r12\n\t"                                                    \
                   ".balign 4\n"                                                   \
                   "3:\n\t"                                                        \
                   ADD_ROW("0", "4", "8") NEXT_ROW                                 \
                   ADD_ROW("12", "16", "20") NEXT_ROW                              \
                   ADD_ROW("24", "28", "32")                                       \
                   "ldr r12, [sp, #12]\n\t"                                        \
                   "ldr r8, [sp, #24]\n\t"                                         \
                   "add r0, r0, r12\n\t"                                           \
                   REQUANTIZE("r4") REQUANTIZE("r5")                               \
                   REQUANTIZE("r6") REQUANTIZE("r7")                               \
                   clamp                                                           \
                   "ldr r9, [sp, #32]\n\t"                                         \
                   "bfi r4, r5, #8, #8\n\t"                                        \
                   "bfi r4, r6, #16, #8\n\t"                                       \
                   "bfi r4, r7, #24, #8\n\t"                                       \
                   "str r4, [lr]\n\t"                                              \
                   "add lr, lr, r2\n\t"                                            \
                   "cmp lr, r9\n\t"                                                \
                   "bne.w 2b\n\t"                                                  \
                   ADVANCE("24", "100") ADVANCE("28", "4") ADVANCE("32", "4")      \
                   ADVANCE("0", "4")                                               \
                   "add r1, r1, #100\n\t"                                          \
                   "ldr r10, [sp, #36]\n\t"                                        \
                   "cmp r9, r10\n\t"                                               \
                   "bne.w 1b\n\t"                                                  \
                   "add sp, sp, #48\n\t"                                           \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}")

// The arguments are in r0 to r3, as the procedure call standard says.
DSP_NAKED static void convolve_saturate(DSP_UNUSED const depthwise_block *block, DSP_UNUSED const uint32_t *weights,
                                        DSP_UNUSED int32_t column, DSP_UNUSED int32_t row) {
  CONVOLVE("");
}

DSP_NAKED static void convolve_clamp(DSP_UNUSED const depthwise_block *block, DSP_UNUSED const uint32_t *weights,
                                     DSP_UNUSED int32_t column, DSP_UNUSED int32_t row) {
  CONVOLVE(CLAMP_ALL);
}

// Whole blocks of the channels from `first` up to, and without, `end`, whose weights lie at `packed`.
static void convolve_blocks(const depthwise_layer *layer, const depthwise_pixels *pixels, const uint32_t *packed,
                            int32_t first, int32_t end, int8_t *kept) {
  const int32_t outside = 3 - pixels->rows;
  const depthwise_block block = {
    .input = pixels->input + first,
    .edges = pixels->edges,
    .next = layer->step - (pixels->rows - 1) * layer->row,
    .rows_code = (uint32_t)(outside * ROW_CODE_BYTES),
    .offsets = layer->offsets,
    .numbers = packed + TAPS,
    .kept = kept + first,
    .kept_end = kept + first + pixels->count * layer->channels,
    .channels_end = pixels->input + end,
    .saturated_min = layer->range.saturated_min,
    .min = layer->range.min,
  };
  // The rows that lie inside are the last ones of the code.
  const uint32_t *const weights = packed + 3 * (pixels->first_row - outside);
  if (dsp_fast_way(&layer->range) == DSP_SATURATE) {
    convolve_saturate(&block, weights, layer->channels, layer->row);
  } else {
    convolve_clamp(&block, weights, layer->channels, layer->row);
  }
}

static void convolve(const depthwise_layer *layer, const depthwise_pixels *pixels, int8_t *kept) {
  const int32_t channels = layer->channels, whole = channels / BLOCK_CHANNELS * BLOCK_CHANNELS;
  convolve_blocks(layer, pixels, layer->packed, 0, whole, kept);
  if (whole != channels) {
    const uint32_t *const last = layer->packed + whole / BLOCK_CHANNELS * BLOCK_WORDS;
    convolve_blocks(layer, pixels, last, channels - BLOCK_CHANNELS, channels, kept);
  }
}

#else

// One channel of one pixel.
static int8_t convolve_channel(const depthwise_layer *layer, const depthwise_pixels *pixels, const int8_t *input,
                               uint32_t edges, const uint32_t *block, int32_t c) {
  const int32_t first = (edges & 1u) != 0 ? 1 : 0, end = (edges & 2u) != 0 ? 2 : 3;
  const uint32_t *const numbers = &block[TAPS + c * CHANNEL_WORDS];
  int32_t sum = 0;
  for (int32_t fy = 0; fy < pixels->rows; ++fy) {
    for (int32_t fx = first; fx < end; ++fx) {
      const uint32_t weights = block[3 * (pixels->first_row + fy) + fx];
      const int32_t value = input[fy * layer->row + fx * layer->channels] + dsp_low(layer->offsets);
      sum += value * (int8_t)(weights >> (8 * c));
    }
  }
  const dsp_channel channel = { (int32_t)numbers[1], (int32_t)numbers[2], (int32_t)numbers[3] + 1 };
  return (int8_t)dsp_requantize(DSP_CLAMP, &layer->range, channel, (int32_t)numbers[0] + 2 * sum);
}

static void convolve(const depthwise_layer *layer, const depthwise_pixels *pixels, int8_t *kept) {
  const int32_t channels = layer->channels, whole = channels / BLOCK_CHANNELS * BLOCK_CHANNELS;
  for (int32_t c = 0; c < channels; ++c) {
    const uint32_t *const block = layer->packed + c / BLOCK_CHANNELS * BLOCK_WORDS;
    // The last block ends with the last channel.
    const int32_t place = c < whole ? c % BLOCK_CHANNELS : c - channels + BLOCK_CHANNELS;
    for (int32_t i = 0; i < pixels->count; ++i) {
      kept[i * channels + c] = convolve_channel(layer, pixels, pixels->input + i * layer->step + c,
                                                pixels->edges >> (2 * i), block, place);
    }
  }
}

#endif

static void copy(int8_t *to, const int8_t *from, int32_t bytes) {
  const int8_t *const end = from + bytes;
  while (end - from >= 16) {
    const uint32_t word0 = dsp_load4(from), word1 = dsp_load4(from + 4), word2 = dsp_load4(from + 8),
                   word3 = dsp_load4(from + 12);
    dsp_store4(to, word0);
    dsp_store4(to + 4, word1);
    dsp_store4(to + 8, word2);
    dsp_store4(to + 12, word3);
    from += 16;
    to += 16;
  }
  while (from != end) {
    *to++ = *from++;
  }
}

void dmo_dsp_packed_depthwise_conv2d_3x3_s8(const dmo_conv2d_params *params, const dmo_shape *input_shape,
                                        const int8_t *input, const dmo_shape *filter_shape, const uint32_t *packed,
                                        const dmo_shape *output_shape, int8_t *output) {
  (void)filter_shape;
  const dmo_conv_geometry *const g = &params->geometry;
  const int32_t channels = input_shape->c, height = input_shape->h, width = input_shape->w;
  const depthwise_layer layer = {
    .range = dsp_make_range(params->output_offset, params->activation_min, params->activation_max),
    .offsets = dsp_pair(params->input_offset, params->input_offset),
    .packed = packed,
    .channels = channels,
    .row = width * channels,
    .step = g->stride_w * channels,
  };
  uint32_t kept[KEPT_BYTES / sizeof(uint32_t)];
  const int32_t fitting = KEPT_BYTES / channels;
  const int32_t most = fitting < MOST_PIXELS ? fitting : MOST_PIXELS;
  for (int32_t b = 0; b < output_shape->n; ++b) {
    for (int32_t oy = 0; oy < output_shape->h; ++oy) {
      const int32_t top = oy * g->stride_h - g->pad_h;
      const int32_t first_row = top < 0 ? 1 : 0, end_row = top + 3 > height ? height - top : 3;
      for (int32_t ox = 0; ox < output_shape->w;) {
        const int32_t rest = output_shape->w - ox, count = rest < most ? rest : most;
        const int32_t left = ox * g->stride_w - g->pad_w, last = left + (count - 1) * g->stride_w;
        const depthwise_pixels pixels = {
          .input = input + (top + first_row) * layer.row + left * channels,
          .first_row = first_row,
          .rows = end_row - first_row,
          .edges = (left < 0 ? 1u : 0u) | (last + 3 > width ? 2u << (2 * (count - 1)) : 0u),
          .count = count,
        };
        convolve(&layer, &pixels, (int8_t *)kept);
        copy(output, (const int8_t *)kept, count * channels);
        output += count * channels;
        ox += count;
      }
    }
    input += height * layer.row;
  }
}
