// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One pixel of a depthwise convolution, wherever its taps lie: the inside of every depthwise convolution here.
#ifndef DSP_DEPTHWISE_PIXEL_H
#define DSP_DEPTHWISE_PIXEL_H

#include "dsp.h"

#include <stddef.h>

// One output pixel: the taps that lie inside the input.
typedef struct {
  const int8_t *input;  // first tap, first channel
  const int8_t *filter; // the same tap's
  int32_t rows, columns;
  int32_t input_row, input_column;   // bytes from one tap to the next
  int32_t filter_row, filter_column;
} tap_window;

// What all pixels share.
typedef struct {
  dsp_range range;
  int32_t input_offset;
  const int32_t *bias, *multiplier, *shift;
  dsp_way way;
} depthwise_layer;

typedef struct {
  int32_t channel0, channel1, channel2, channel3;
} channel_sums;

// One tap of four channels.
DSP_INLINE channel_sums add_tap(uint32_t offsets, uint32_t values, uint32_t weights, channel_sums sums) {
  const uint32_t value_even = dsp_add_even(offsets, values), value_odd = dsp_add_odd(offsets, values);
  const uint32_t weight_even = dsp_even(weights), weight_odd = dsp_odd(weights);
  sums.channel0 = dsp_multiply_low(value_even, weight_even, sums.channel0);
  sums.channel1 = dsp_multiply_low(value_odd, weight_odd, sums.channel1);
  sums.channel2 = dsp_multiply_high(value_even, weight_even, sums.channel2);
  sums.channel3 = dsp_multiply_high(value_odd, weight_odd, sums.channel3);
  return sums;
}

// One tap of one channel with four multiplier channels.
DSP_INLINE channel_sums add_tap_of_one(uint32_t value, uint32_t weights, channel_sums sums) {
  const uint32_t weight_even = dsp_even(weights), weight_odd = dsp_odd(weights);
  sums.channel0 = dsp_multiply_low(weight_even, value, sums.channel0);
  sums.channel1 = dsp_multiply_low(weight_odd, value, sums.channel1);
  sums.channel2 = dsp_multiply_high_low(weight_even, value, sums.channel2);
  sums.channel3 = dsp_multiply_high_low(weight_odd, value, sums.channel3);
  return sums;
}

DSP_INLINE int32_t finish(dsp_way way, const depthwise_layer *layer, int32_t channel, int32_t sum) {
  if (layer->bias != NULL) {
    sum += layer->bias[channel];
  }
  return dsp_requantize(way, &layer->range,
                        dsp_make_channel(way, &layer->range, layer->multiplier[channel], layer->shift[channel]),
                        way == DSP_EXACT ? sum : 2 * sum);
}

DSP_INLINE void store_sums(dsp_way way, const depthwise_layer *layer, int32_t channel, channel_sums sums,
                           int8_t *output) {
  const int32_t value0 = finish(way, layer, channel, sums.channel0);
  const int32_t value1 = finish(way, layer, channel + 1, sums.channel1);
  const int32_t value2 = finish(way, layer, channel + 2, sums.channel2);
  const int32_t value3 = finish(way, layer, channel + 3, sums.channel3);
  dsp_store4(output, dsp_pack4(value0, value1, value2, value3));
}

// A single output channel, which reads a single input channel.
DSP_INLINE void one_channel(dsp_way way, const depthwise_layer *layer, const tap_window *window, int32_t in_channel,
                            int32_t channel, int8_t *output) {
  const int8_t *in_row = window->input + in_channel;
  const int8_t *weight_row = window->filter + channel;
  int32_t sum = 0;
  for (int32_t y = 0; y < window->rows; ++y) {
    const int8_t *in = in_row;
    const int8_t *weight = weight_row;
    for (int32_t x = 0; x < window->columns; ++x) {
      sum += (*in + layer->input_offset) * *weight;
      in += window->input_column;
      weight += window->filter_column;
    }
    in_row += window->input_row;
    weight_row += window->filter_row;
  }
  output[channel] = (int8_t)finish(way, layer, channel, sum);
}

// Multiplier 1, channels from `first`.
DSP_INLINE void one_to_one(dsp_way way, const depthwise_layer *layer, const tap_window *window, int32_t first,
                           int32_t channels, int8_t *output) {
  const uint32_t offsets = dsp_pair(layer->input_offset, layer->input_offset);
  const int32_t in_step = window->input_column, weight_step = window->filter_column;
  int32_t c = first;
  for (; c + 4 <= channels; c += 4) {
    const int8_t *in = window->input + c;
    const int8_t *weight = window->filter + c;
    channel_sums sums = { 0, 0, 0, 0 };
    for (int32_t y = window->rows; y != 0; --y) {
      const int8_t *in_tap = in;
      const int8_t *weight_tap = weight;
      for (int32_t x = window->columns; x != 0; --x) {
        sums = add_tap(offsets, dsp_load4(in_tap), dsp_load4(weight_tap), sums);
        in_tap += in_step;
        weight_tap += weight_step;
      }
      in += window->input_row;
      weight += window->filter_row;
    }
    store_sums(way, layer, c, sums, &output[c]);
  }
  for (; c < channels; ++c) {
    one_channel(way, layer, window, c, c, output);
  }
}

// Any multiplier.
DSP_INLINE void one_to_many(dsp_way way, const depthwise_layer *layer, const tap_window *window, int32_t in_channels,
                            int32_t multiplier, int8_t *output) {
  for (int32_t ic = 0; ic < in_channels; ++ic) {
    int32_t m = 0;
    for (; m + 4 <= multiplier; m += 4) {
      const int32_t c = ic * multiplier + m;
      const int8_t *in = window->input + ic;
      const int8_t *weight = window->filter + c;
      channel_sums sums = { 0, 0, 0, 0 };
      for (int32_t y = 0; y < window->rows; ++y) {
        for (int32_t x = 0; x < window->columns; ++x) {
          const uint32_t value = (uint32_t)(in[x * window->input_column] + layer->input_offset);
          sums = add_tap_of_one(value, dsp_load4(&weight[x * window->filter_column]), sums);
        }
        in += window->input_row;
        weight += window->filter_row;
      }
      store_sums(way, layer, c, sums, &output[c]);
    }
    for (; m < multiplier; ++m) {
      one_channel(way, layer, window, ic, ic * multiplier + m, output);
    }
  }
}

#if DSP_INSTRUCTIONS

// Multiplier 1, windows of three columns, blocks of four channels, in the fast ways. What the assembly reads, in this
// order; `channel` counts from -channels up to 0, and pointers lie behind the last channel.
typedef struct {
  int32_t channel;
  const int32_t *bias, *multiplier, *shift;
  int32_t half_offset;
  const int8_t *input, *filter;
  int32_t input_column, filter_column;
  uint32_t input_offsets;
  int32_t rows, input_row, filter_row;
  int8_t *output;
  int32_t saturated_min, min;
} three_columns;

//   r0 input          r1 filter          r2, r3 bytes from one column to the next   r4 to r7 sums, then values
//   r8 offsets        r9, r10 input, r11, r12 filter: channels 0 and 2, 1 and 3     lr rows
// and after the taps
//   r0 channel, then temporary           r8 half_offset      r9 to r12 biases, then multipliers
//   r1, r2, r3, lr shifts
#define TAP(in, weight)                \
  "ldr r10, " in "\n\t"                \
  "ldr r12, " weight "\n\t"            \
  "sxtab16 r9, r8, r10\n\t"            \
  "sxtab16 r10, r8, r10, ror #8\n\t"   \
  "sxtb16 r11, r12\n\t"                \
  "sxtb16 r12, r12, ror #8\n\t"        \
  "smlabb r4, r9, r11, r4\n\t"         \
  "smlabb r5, r10, r12, r5\n\t"        \
  "smlatt r6, r9, r11, r6\n\t"         \
  "smlatt r7, r10, r12, r7\n\t"
#define REQUANTIZE(sum, multiplier, shift)           \
  "lsl " sum ", " sum ", #1\n\t"                     \
  "mvn " shift ", " shift "\n\t"                     \
  "lsl r0, r8, " shift "\n\t"                        \
  "add r0, r0, " sum ", asr #31\n\t"                 \
  "smmlar " sum ", " sum ", " multiplier ", r0\n\t"  \
  "asr " sum ", " sum ", " shift "\n\t"              \
  "ssat " sum ", #8, " sum ", asr #1\n\t"
#define CLAMP(value)                  \
  "sub " value ", " value ", r0\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r1\n\t"
#define CLAMP_ALL "ldrd r0, r1, [sp, #56]\n\t" CLAMP("r4") CLAMP("r5") CLAMP("r6") CLAMP("r7")
#define MULTIPLY_THREE_COLUMNS(clamp)                                                \
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"                 \
                   "add r12, r0, #32\n\t"                                            \
                   "ldm r12, {r1, r2, r3, r4, r5, r6, r7, r8}\n\t"                   \
                   "push {r1, r2, r3, r4, r5, r6, r7, r8}\n\t"                       \
                   "ldm r0, {r1, r2, r3, r4, r5, r6, r7, r8}\n\t"                    \
                   "push {r1, r2, r3, r4, r5, r6, r7, r8}\n"                         \
                   "1:\n\t"                                                          \
                   "add lr, sp, #20\n\t"                                             \
                   "ldm lr, {r0, r1, r2, r3, r8, lr}\n\t"                            \
                   "ldr r9, [sp]\n\t"                                                \
                   "movs r4, #0\n\t"                                                 \
                   "movs r5, #0\n\t"                                                 \
                   "movs r6, #0\n\t"                                                 \
                   "movs r7, #0\n\t"                                                 \
                   "add r0, r0, r9\n\t"                                              \
                   "add r1, r1, r9\n"                                                \
                   "2:\n\t"                                                          \
                   TAP("[r0]", "[r1]")                                               \
                   TAP("[r0, r2]", "[r1, r3]")                                       \
                   TAP("[r0, r2, lsl #1]", "[r1, r3, lsl #1]")                       \
                   "ldrd r9, r10, [sp, #44]\n\t"                                     \
                   "subs lr, lr, #1\n\t"                                             \
                   "add r0, r0, r9\n\t"                                              \
                   "add r1, r1, r10\n\t"                                             \
                   "bne 2b\n\t"                                                      \
                   "ldm sp, {r0, r1, r2, r3, r8}\n\t"                                \
                   "add r1, r1, r0, lsl #2\n\t"                                      \
                   "ldm r1, {r9, r10, r11, r12}\n\t"                                 \
                   "add r4, r4, r9\n\t"                                              \
                   "add r5, r5, r10\n\t"                                             \
                   "add r6, r6, r11\n\t"                                             \
                   "add r7, r7, r12\n\t"                                             \
                   "add r2, r2, r0, lsl #2\n\t"                                      \
                   "ldm r2, {r9, r10, r11, r12}\n\t"                                 \
                   "add r3, r3, r0, lsl #2\n\t"                                      \
                   "ldm r3, {r1, r2, r3, lr}\n\t"                                    \
                   REQUANTIZE("r4", "r9", "r1") REQUANTIZE("r5", "r10", "r2")        \
                   REQUANTIZE("r6", "r11", "r3") REQUANTIZE("r7", "r12", "lr")       \
                   clamp                                                             \
                   "ldr r0, [sp]\n\t"                                                \
                   "ldr r1, [sp, #52]\n\t"                                           \
                   "bfi r4, r5, #8, #8\n\t"                                          \
                   "bfi r4, r6, #16, #8\n\t"                                         \
                   "bfi r4, r7, #24, #8\n\t"                                         \
                   "str r4, [r1, r0]\n\t"                                            \
                   "adds r0, r0, #4\n\t"                                             \
                   "str r0, [sp]\n\t"                                                \
                   "bne 1b\n\t"                                                      \
                   "add sp, sp, #64\n\t"                                             \
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}")

// The argument is in r0, as the procedure call standard says.
DSP_NAKED static void multiply_three_columns_saturate(DSP_UNUSED const three_columns *numbers) {
  MULTIPLY_THREE_COLUMNS("");
}

DSP_NAKED static void multiply_three_columns_clamp(DSP_UNUSED const three_columns *numbers) {
  MULTIPLY_THREE_COLUMNS(CLAMP_ALL);
}

// Returns how many channels are done.
static int32_t try_three_columns(const depthwise_layer *layer, const tap_window *window, int32_t channels,
                                 int8_t *output) {
  const int32_t done = channels & ~3;
  if (done == 0 || window->rows == 0 || window->columns != 3 || layer->bias == NULL || layer->way == DSP_EXACT) {
    return 0;
  }
  const three_columns numbers = {
    .channel = -done,
    .bias = layer->bias + done,
    .multiplier = layer->multiplier + done,
    .shift = layer->shift + done,
    .half_offset = layer->range.half_offset,
    .input = window->input + done,
    .filter = window->filter + done,
    .input_column = window->input_column,
    .filter_column = window->filter_column,
    .input_offsets = dsp_pair(layer->input_offset, layer->input_offset),
    .rows = window->rows,
    .input_row = window->input_row,
    .filter_row = window->filter_row,
    .output = output + done,
    .saturated_min = layer->range.saturated_min,
    .min = layer->range.min,
  };
  (layer->way == DSP_SATURATE ? multiply_three_columns_saturate : multiply_three_columns_clamp)(&numbers);
  return done;
}
#endif

static void one_pixel(const depthwise_layer *layer, const tap_window *window, int32_t in_channels, int32_t multiplier,
                      int8_t *output) {
  if (multiplier != 1) {
    if (layer->way == DSP_EXACT) {
      one_to_many(DSP_EXACT, layer, window, in_channels, multiplier, output);
    } else {
      one_to_many(DSP_CLAMP, layer, window, in_channels, multiplier, output);
    }
    return;
  }
  int32_t first = 0;
#if DSP_INSTRUCTIONS
  first = try_three_columns(layer, window, in_channels, output);
  if (first == in_channels) {
    return;
  }
#endif
  if (layer->way == DSP_EXACT) {
    one_to_one(DSP_EXACT, layer, window, first, in_channels, output);
  } else {
    one_to_one(DSP_CLAMP, layer, window, first, in_channels, output);
  }
}

typedef struct {
  int32_t first, count; // taps along one axis that lie inside the input
} tap_range;

static tap_range inside(int32_t start, int32_t dilation, int32_t taps, int32_t extent) {
  const int32_t first = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const int32_t end = start >= extent ? 0 : (extent - start + dilation - 1) / dilation;
  const int32_t last = end < taps ? end : taps;
  return (tap_range){ first, last > first ? last - first : 0 };
}

#endif
