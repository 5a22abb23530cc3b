// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_plane.h"

// Four windows are widened to rows as those of dsp_multiply.h, for whole groups of taps. Of the taps behind them each
// has a group to itself, as its column 0.
enum {
  CHANNELS = 2,
  // With 79 taps: 19 groups, and one for each of three.
  MOST_WORDS = (DSP_PLANE_TAPS / DSP_GROUP_COLUMNS + DSP_GROUP_COLUMNS - 2) * DSP_GROUP_WORDS,
  MOST_COLUMNS = (DSP_ROWS - 1) * DSP_PLANE_STRIDE + DSP_PLANE_TAPS, // of four windows next to each other
};

static int32_t taps_of(const dsp_plane *plane) {
  return plane->taps_h * plane->taps_w;
}

// Where the value of a tap lies, of the first window: in 16-bit numbers from the first row on.
DSP_INLINE uint32_t place_of(uint32_t tap, uint32_t whole) {
  if (tap >= whole) {
    return (whole / 4 + tap - whole) * 2 * DSP_GROUP_WORDS;
  }
  return tap / 4 * 2 * DSP_GROUP_WORDS + tap % 2 * 2 + tap % 4 / 2;
}

#if DSP_INSTRUCTIONS

// What the assembly reads, and in part advances, in this order.
typedef struct {
  uint32_t rows;                    // addresses; of the whole groups, and of all
  uint32_t whole_end, rows_end;
  int32_t apart;                    // bytes from one tap's weights to the next
  const int8_t *weights;            // of the first tap and the next pair of channels
  int8_t *output;                   // of the first pixel, and bytes from one pixel to the next
  int32_t step1, step2, step3;
  int32_t channel, channels_end;    // times 4
  const int32_t *bias, *multiplier, *shift;
  int32_t half_offset, saturated_min, min; // of dsp_range
} plane_block;

// The stack holds the block's address, `whole_end` and `rows_end`.
//
//   r0 rows   r1 weights   r2 apart   r4 to r7, r8 to r11 sums of two channels   lr values of a window
//   r3, r12 weights of two taps, then of two channels
// and after the taps
//   lr block   r0 start   r1 multiplier   r2 bias   r12 shift   r3 temporary
#define ADD_WINDOW(row, first, second)     \
  "ldr.w lr, [r0, #" row "]\n\t"           \
  "smlad " first ", lr, r3, " first "\n\t" \
  "smlad " second ", lr, r12, " second "\n\t"
// Taps 0 and 2, or 1 and 3.
#define ADD_TWO_TAPS(row0, row1, row2, row3) \
  "ldrh r3, [r1]\n\t"                        \
  "ldrh r12, [r1, r2, lsl #1]\n\t"           \
  "add.w r1, r1, r2\n\t"                     \
  "pkhbt r12, r3, r12, lsl #16\n\t"          \
  "sxtb16 r3, r12\n\t"                       \
  "sxtb16 r12, r12, ror #8\n\t"              \
  ADD_WINDOW(row0, "r4", "r8")               \
  ADD_WINDOW(row1, "r5", "r9")               \
  ADD_WINDOW(row2, "r6", "r10")              \
  ADD_WINDOW(row3, "r7", "r11")
#define ADD_GROUP                        \
  ADD_TWO_TAPS("0", "8", "16", "24")     \
  ADD_TWO_TAPS("4", "12", "20", "28")    \
  "add.w r1, r1, r2, lsl #1\n\t"         \
  "adds r0, #32\n\t"
// A tap behind the groups. The other half of its values is 0.
#define ADD_TAP                          \
  "ldrsb r3, [r1]\n\t"                   \
  "ldrsb r12, [r1, #1]\n\t"              \
  "add r1, r1, r2\n\t"                   \
  ADD_WINDOW("0", "r4", "r8")            \
  ADD_WINDOW("8", "r5", "r9")            \
  ADD_WINDOW("16", "r6", "r10")          \
  ADD_WINDOW("24", "r7", "r11")          \
  "adds r0, #32\n\t"
#define LOAD_CHANNEL           \
  "ldr r3, [lr, #36]\n\t"      \
  "ldr r0, [lr, #44]\n\t"      \
  "ldr r1, [lr, #48]\n\t"      \
  "ldr r2, [lr, #52]\n\t"      \
  "ldr r0, [r0, r3]\n\t"       \
  "ldr r1, [r1, r3]\n\t"       \
  "ldr r12, [r2, r3]\n\t"      \
  "ldr r2, [lr, #56]\n\t"      \
  "adds r3, r3, #4\n\t"        \
  "str r3, [lr, #36]\n\t"      \
  "lsls r0, r0, #1\n\t"        \
  "mvn r12, r12\n\t"           \
  "lsl r2, r2, r12\n\t"
#define REQUANTIZE(sum)                     \
  "add " sum ", r0, " sum ", lsl #1\n\t"    \
  "add r3, r2, " sum ", asr #31\n\t"        \
  "smmlar " sum ", " sum ", r1, r3\n\t"     \
  "asr " sum ", " sum ", r12\n\t"           \
  "ssat " sum ", #8, " sum ", asr #1\n\t"
#define CLAMP(value)                  \
  "sub " value ", " value ", r1\n\t"  \
  "usat " value ", #8, " value "\n\t" \
  "add " value ", " value ", r2\n\t"

// The argument is in r0, as the procedure call standard says. The first pixel is stored last, so pixels that are not
// wanted have steps of 0.
DSP_NAKED static void multiply_plane(DSP_UNUSED plane_block *block) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldrd r1, r2, [r0, #4]\n\t"
                   "push {r0, r1, r2}\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   "ldr r1, [r0, #16]\n\t"
                   "ldr r2, [r0, #12]\n\t"
                   "ldr r3, [r0, #4]\n\t"
                   "ldr r0, [r0]\n\t"
                   "movs r4, #0\n\t"
                   "movs r5, #0\n\t"
                   "movs r6, #0\n\t"
                   "movs r7, #0\n\t"
                   "mov r8, r4\n\t"
                   "mov r9, r4\n\t"
                   "mov r10, r4\n\t"
                   "mov r11, r4\n\t"
                   "cmp r0, r3\n\t"
                   "beq.w 4f\n\t"
                   ".balign 4\n"
                   "2:\n\t"
                   ADD_GROUP
                   "ldr r12, [sp, #4]\n\t"
                   "cmp r0, r12\n\t"
                   "bne.w 2b\n"
                   "4:\n\t"
                   "ldr r12, [sp, #8]\n\t"
                   "cmp r0, r12\n\t"
                   "beq.w 5f\n\t"
                   ADD_TAP
                   "b.w 4b\n"
                   "5:\n\t"
                   "ldr lr, [sp]\n"
                   "6:\n\t"
                   LOAD_CHANNEL
                   REQUANTIZE("r4") REQUANTIZE("r5") REQUANTIZE("r6") REQUANTIZE("r7")
                   "ldrd r1, r2, [lr, #60]\n\t"
                   CLAMP("r4") CLAMP("r5") CLAMP("r6") CLAMP("r7")
                   "ldr r0, [lr, #20]\n\t"
                   "ldr r1, [lr, #24]\n\t"
                   "ldr r2, [lr, #28]\n\t"
                   "ldr r3, [lr, #32]\n\t"
                   "add r1, r1, r0\n\t"
                   "add r2, r2, r1\n\t"
                   "add r3, r3, r2\n\t"
                   "strb r7, [r3]\n\t"
                   "strb r6, [r2]\n\t"
                   "strb r5, [r1]\n\t"
                   "strb r4, [r0], #1\n\t"
                   "mov r4, r8\n\t"
                   "mov r5, r9\n\t"
                   "mov r6, r10\n\t"
                   "mov r7, r11\n\t"
                   "str r0, [lr, #20]\n\t"
                   "ldr r1, [lr, #36]\n\t"
                   "ldr r2, [lr, #40]\n\t"
                   "ldr r3, [lr, #16]\n\t"
                   "lsls r0, r1, #29\n\t"
                   "bmi.w 6b\n\t"
                   "adds r3, r3, #2\n\t"
                   "str r3, [lr, #16]\n\t"
                   "mov r0, lr\n\t"
                   "cmp r1, r2\n\t"
                   "bne.w 1b\n\t"
                   "add sp, sp, #12\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

// All pairs of channels.
static plane_block make_block(const dsp_plane *plane, const uint32_t *rows) {
  const int32_t taps = taps_of(plane), groups = taps / DSP_GROUP_COLUMNS, rest = taps % DSP_GROUP_COLUMNS;
  return (plane_block){
    .rows = dsp_address(rows),
    .whole_end = dsp_address(rows + groups * DSP_GROUP_WORDS),
    .rows_end = dsp_address(rows + (groups + rest) * DSP_GROUP_WORDS),
    .apart = plane->channels,
    .channels_end = 4 * (plane->channels & ~1),
    .bias = plane->bias,
    .multiplier = plane->multiplier,
    .shift = plane->shift,
    .half_offset = plane->range.half_offset,
    .saturated_min = plane->range.saturated_min,
    .min = plane->range.min,
  };
}

static void store_pairs(const dsp_plane *plane, plane_block *block, int32_t pixels, int8_t *output) {
  block->weights = plane->filter;
  block->output = output;
  block->step1 = pixels > 1 ? plane->out_column : 0;
  block->step2 = pixels > 2 ? plane->out_column : 0;
  block->step3 = pixels > 3 ? plane->out_column : 0;
  block->channel = 0;
  multiply_plane(block);
}

#endif

// One channel, in its way.
DSP_OUT_OF_LINE static void store_channel(const dsp_plane *plane, const uint32_t *rows, int32_t c, int32_t pixels, int8_t *output) {
  const int32_t taps = taps_of(plane), whole = taps & ~(DSP_GROUP_COLUMNS - 1);
  const dsp_way way = plane->way == DSP_EXACT ? DSP_EXACT : DSP_CLAMP;
  const dsp_channel channel = dsp_make_channel(way, &plane->range, plane->multiplier[c], plane->shift[c]);
  for (int32_t i = 0; i < pixels; ++i) {
    int32_t sum = plane->bias == NULL ? 0 : plane->bias[c];
    for (int32_t tap = 0; tap < taps; ++tap) {
      const uint32_t place = place_of((uint32_t)tap, (uint32_t)whole);
      const uint32_t pair = rows[place / 2 + 2 * (uint32_t)i];
      sum += (place % 2 == 0 ? dsp_low(pair) : dsp_high(pair)) * plane->filter[tap * plane->channels + c];
    }
    output[i * plane->out_column + c] = (int8_t)(way == DSP_EXACT
                                                     ? dsp_requantize(DSP_EXACT, &plane->range, channel, sum)
                                                     : dsp_requantize(DSP_CLAMP, &plane->range, channel, 2 * sum));
  }
}

// Copies `count` columns of row y from column `left` on; those outside the plane are the byte that the offset makes 0.
static void gather(const dsp_plane *plane, const int8_t *input, int32_t y, int32_t left, int32_t count, int8_t *to) {
  const int8_t zero = (int8_t)-plane->input_offset;
  const int8_t *const end = to + count;
  if (y >= 0 && y < plane->height && left < plane->width && left + count > 0) {
    const int32_t first = left < 0 ? 0 : left;
    const int32_t last = left + count < plane->width ? left + count : plane->width;
    const int8_t *from = &input[y * plane->row + first * plane->column];
    for (int32_t x = left; x < first; ++x) {
      *to++ = zero;
    }
    for (int32_t x = first; x < last; ++x) {
      *to++ = *from;
      from += plane->column;
    }
  }
  while (to != end) {
    *to++ = zero;
  }
}

// Widens a row of taps of four windows, in whole groups.
static void widen_groups(const dsp_plane *plane, const int8_t *line, uint32_t *rows) {
#if DSP_INSTRUCTIONS
  const uint32_t offsets = dsp_pair(plane->input_offset, plane->input_offset);
  dsp_widen_four(rows, line, plane->stride_w, plane->taps_w / DSP_GROUP_COLUMNS, offsets);
#else
  for (int32_t i = 0; i < DSP_ROWS; ++i) {
    dsp_widen(&rows[2 * i], &line[i * plane->stride_w], plane->taps_w, plane->input_offset, false);
  }
#endif
}

DSP_INLINE void widen_value(int8_t *to, int32_t value) {
  const int16_t wide = (int16_t)value;
  memcpy(to, &wide, sizeof wide);
}

// The same tap by tap, the first of which is number `tap` of the window.
static void widen_taps(const dsp_plane *plane, const int8_t *line, int32_t tap, uint32_t *rows) {
  const int32_t whole = taps_of(plane) & ~(DSP_GROUP_COLUMNS - 1);
  const int32_t offset = plane->input_offset, stride = plane->stride_w;
  for (const int8_t *const end = line + plane->taps_w; line != end; ++line, ++tap) {
    int8_t *const to = (int8_t *)rows + 2 * place_of((uint32_t)tap, (uint32_t)whole);
    const int32_t value0 = line[0], value1 = line[stride], value2 = line[2 * stride], value3 = line[3 * stride];
    widen_value(&to[0], value0 + offset);
    widen_value(&to[8], value1 + offset);
    widen_value(&to[16], value2 + offset);
    widen_value(&to[24], value3 + offset);
  }
}

static void clear_rest(int32_t taps, uint32_t *rows) {
  const int32_t first = taps / DSP_GROUP_COLUMNS * DSP_GROUP_WORDS;
  for (int32_t i = 0; i < taps % DSP_GROUP_COLUMNS * DSP_GROUP_WORDS; ++i) {
    rows[first + i] = 0;
  }
}

// Widens four windows, the first of which begins at (top, left).
static void load_windows(const dsp_plane *plane, const int8_t *input, int32_t top, int32_t left, uint32_t *rows) {
  int8_t bytes[MOST_COLUMNS];
  const int32_t taps_w = plane->taps_w;
  const int32_t columns = (DSP_ROWS - 1) * plane->stride_w + taps_w;
  const bool is_joined = plane->column == 1 && left >= 0 && left + columns <= plane->width;
  for (int32_t fy = 0; fy < plane->taps_h; ++fy) {
    const int32_t y = top + fy * plane->dilation_h;
    const int8_t *line = bytes;
    if (is_joined && y >= 0 && y < plane->height) {
      line = &input[y * plane->row + left];
    } else {
      gather(plane, input, y, left, columns, bytes);
    }
    if (taps_w % DSP_GROUP_COLUMNS == 0) {
      widen_groups(plane, line, &rows[fy * dsp_row_words(taps_w)]);
    } else {
      widen_taps(plane, line, fy * taps_w, rows);
    }
  }
}

void dsp_convolve_plane(const dsp_plane *plane, const int8_t *input, int8_t *output) {
  uint32_t rows[MOST_WORDS];
  int32_t first = 0; // of the channels that the assembly does not take
  clear_rest(taps_of(plane), rows);
#if DSP_INSTRUCTIONS
  plane_block block = make_block(plane, rows);
  if (plane->way != DSP_EXACT && plane->bias != NULL) {
    first = plane->channels & ~1;
  }
#endif
  for (int32_t oy = 0; oy < plane->out_height; ++oy) {
    for (int32_t ox = 0; ox < plane->out_width; ox += DSP_ROWS) {
      const int32_t rest = plane->out_width - ox;
      const int32_t pixels = rest < DSP_ROWS ? rest : DSP_ROWS;
      int8_t *const to = &output[oy * plane->out_row + ox * plane->out_column];
      load_windows(plane, input, oy * plane->stride_h - plane->pad_h, ox * plane->stride_w - plane->pad_w, rows);
#if DSP_INSTRUCTIONS
      if (first != 0) {
        store_pairs(plane, &block, pixels, to);
      }
#endif
      for (int32_t c = first; c < plane->channels; ++c) {
        store_channel(plane, rows, c, pixels, to);
      }
    }
  }
}
