// SPDX-License-Identifier: MIT OR Apache-2.0
#include "packed_patches.h"
#include "dmo_quantize.h"
#include "packed_lines.h"

static uint32_t offsets_of(const packed_patches *patches) {
  return dsp_pair(patches->input_offset, patches->input_offset);
}

static void clear(uint32_t *words, int32_t count) {
  for (; count != 0; --count) {
    *words++ = 0;
  }
}

// Groups of a single patch.
static void clear_row(uint32_t *row, int32_t groups) {
  for (; groups > 0; --groups) {
    row[0] = 0;
    row[1] = 0;
    row += DSP_GROUP_WORDS;
  }
}

// Four windows next to each other, of which at most the first and the last column lie outside the input, with stride 1
// and three columns of whole groups.
DSP_OUT_OF_LINE static void load_three_columns(const packed_patches *patches, uint32_t *rows, int32_t top, int32_t left) {
  const packed_columns columns = {
    .depth = patches->depth,
    .offsets = offsets_of(patches),
    .outside = { left < 0, left + 6 > patches->width },
  };
  const int32_t line_words = 3 * dsp_row_words(patches->depth);
  for (int32_t y = top; y < top + patches->taps_h; ++y) {
    if (y < 0 || y >= patches->height) {
      clear(rows, line_words);
    } else {
      packed_widen_three_columns(rows, &patches->input[y * patches->width * patches->depth], left, &columns);
    }
    rows += line_words;
  }
}

DSP_INLINE void store_wide(int8_t *to, int32_t value) {
  const int16_t wide = (int16_t)value;
  memcpy(to, &wide, sizeof wide);
}

// Where the tap goes that is number `index` of those that are left of rows of taps: columns of a group are in the order
// 0, 2, 1, 3.
DSP_INLINE int8_t *place_of_rest(uint32_t *row, int32_t index) {
  const int32_t column = index % DSP_GROUP_COLUMNS;
  return (int8_t *)(row + index / DSP_GROUP_COLUMNS * DSP_GROUP_WORDS) + 2 * (column / 2 + column % 2 * 2);
}

// Rows of taps of a window that lie inside the input, and the taps that are left of a row.
typedef struct {
  int32_t first, end;
  int32_t rest;
} tap_rows;

static tap_rows rows_inside(const packed_patches *patches, int32_t top) {
  const int32_t first = dmo_clamp(-top, 0, patches->taps_h);
  const int32_t end = dmo_clamp(patches->height - top, first, patches->taps_h);
  return (tap_rows){ first, end, patches->taps_w * patches->depth % DSP_GROUP_COLUMNS };
}

// The bytes of a row of taps from `first` up to, and without, `end` lie inside the input.
typedef struct {
  int32_t first, end;
} clipped_line;

// Four of them; those outside are `zeros`, the byte that the offset makes 0.
static uint32_t load_clipped(const int8_t *line, const clipped_line *clip, int32_t at, uint32_t zeros) {
  const int32_t last = clip->end - at < DSP_GROUP_COLUMNS ? clip->end - at : DSP_GROUP_COLUMNS;
  uint32_t word = zeros;
  for (int32_t i = clip->first > at ? clip->first - at : 0; i < last; ++i) {
    word ^= ((uint32_t)(uint8_t)line[at + i] ^ (zeros & 0xffu)) << (8 * i);
  }
  return word;
}

// Any patch, the first tap of which is at (top, left).
DSP_OUT_OF_LINE static void load_patch(const packed_patches *patches, uint32_t *row, int32_t top, int32_t left) {
  const int32_t depth = patches->depth, bytes = patches->taps_w * depth, offset = patches->input_offset;
  const int32_t whole = bytes & ~(DSP_GROUP_COLUMNS - 1);
  const uint32_t offsets = offsets_of(patches), zeros = (uint32_t)(uint8_t)-offset * UINT32_C(0x01010101);
  const int32_t beyond = (patches->width - left) * depth;
  const clipped_line clip = { left < 0 ? -left * depth : 0, beyond < bytes ? beyond : bytes };
  const tap_rows taps = rows_inside(patches, top);
  uint32_t *const rests = row + patches->taps_h * 2 * whole;
  const int8_t *line = patches->input + ((top + taps.first) * patches->width + left) * depth;
  clear_row(row, taps.first * whole / DSP_GROUP_COLUMNS);
  clear_row(row + taps.end * 2 * whole, (patches->taps_h - taps.end) * whole / DSP_GROUP_COLUMNS);
  clear_row(rests, dsp_groups(patches->taps_h * taps.rest));
  row += taps.first * 2 * whole;
  for (int32_t y = taps.first; y < taps.end; ++y) {
    int32_t at = 0;
    for (; at != whole; at += DSP_GROUP_COLUMNS) {
      const bool inside = at >= clip.first && at + DSP_GROUP_COLUMNS <= clip.end;
      DSP_WIDEN_GROUP(row, 0, inside ? dsp_load4(&line[at]) : load_clipped(line, &clip, at, zeros), offsets, false);
      row += DSP_GROUP_WORDS;
    }
    for (; at < bytes; ++at) {
      if (at >= clip.first && at < clip.end) {
        store_wide(place_of_rest(rests, y * taps.rest + at - whole), line[at] + offset);
      }
    }
    line += patches->width * depth;
  }
}

// What is left of the rows of taps of four windows that lie inside the input from left to right.
DSP_OUT_OF_LINE static void load_rests(const packed_patches *patches, uint32_t *rests, int32_t top, int32_t left,
                                       const tap_rows *taps) {
  const int32_t depth = patches->depth, step = patches->geometry.stride_w * depth, offset = patches->input_offset;
  const int8_t *line = &patches->input[((top + taps->first) * patches->width + left + patches->taps_w) * depth];
  clear(rests, dsp_row_words(patches->taps_h * taps->rest));
  for (int32_t y = taps->first; y < taps->end; ++y) {
    for (int32_t i = 0; i < taps->rest; ++i) {
      int8_t *const to = place_of_rest(rests, y * taps->rest + i);
      const int8_t *const from = line + i - taps->rest;
      const int32_t value0 = from[0], value1 = from[step], value2 = from[2 * step], value3 = from[3 * step];
      store_wide(&to[0], value0 + offset);
      store_wide(&to[8], value1 + offset);
      store_wide(&to[16], value2 + offset);
      store_wide(&to[24], value3 + offset);
    }
    line += patches->width * depth;
  }
}

// Four windows that lie inside the input from left to right.
static void load_lines(const packed_patches *patches, uint32_t *rows, int32_t top, int32_t left) {
  const int32_t depth = patches->depth, groups = patches->taps_w * depth / DSP_GROUP_COLUMNS;
  const int32_t line_words = groups * DSP_GROUP_WORDS;
  const tap_rows taps = rows_inside(patches, top);
  clear(rows, taps.first * line_words);
  clear(rows + taps.end * line_words, (patches->taps_h - taps.end) * line_words);
  if (groups != 0) {
    packed_widen_lines(rows + taps.first * line_words,
                       &patches->input[((top + taps.first) * patches->width + left) * depth],
                       patches->geometry.stride_w * depth, groups, offsets_of(patches), taps.end - taps.first,
                       patches->width * depth - groups * DSP_GROUP_COLUMNS);
  }
  if (taps.rest != 0) {
    load_rests(patches, rows + patches->taps_h * line_words, top, left, &taps);
  }
}

void packed_load_patches(const packed_patches *patches, int32_t oy, int32_t ox, int32_t count, uint32_t *rows) {
  const dmo_conv_geometry *const g = &patches->geometry;
  const bool is_full = count == DSP_ROWS && ox + DSP_ROWS <= patches->out_width;
  if (is_full && patches->is_pointwise && patches->depth % DSP_GROUP_COLUMNS == 0) {
    packed_widen_lines(rows, &patches->input[ox * patches->depth], patches->depth, dsp_groups(patches->depth),
                       offsets_of(patches), 1, 0);
    return;
  }
  int32_t top = oy * g->stride_h - g->pad_h, left = ox * g->stride_w - g->pad_w;
  if (is_full) {
    const int32_t beyond = left + (DSP_ROWS - 1) * g->stride_w + patches->taps_w - patches->width;
    if (patches->taps_w == 3 && patches->depth % DSP_GROUP_COLUMNS == 0 && g->stride_w == 1 && left >= -1 &&
        beyond <= 1) {
      load_three_columns(patches, rows, top, left);
      return;
    }
    if (left >= 0 && beyond <= 0 && top < patches->height && top + patches->taps_h > 0) {
      load_lines(patches, rows, top, left);
      return;
    }
  }
  for (int32_t i = 0; i < DSP_ROWS; ++i) {
    load_patch(patches, rows + 2 * i, top, left);
    if (i + 1 < count) {
      left += g->stride_w;
      if (++ox == patches->out_width) {
        ox = 0;
        top += g->stride_h;
        left = -g->pad_w;
      }
    }
  }
}
