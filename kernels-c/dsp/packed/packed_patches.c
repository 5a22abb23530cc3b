// SPDX-License-Identifier: MIT OR Apache-2.0
#include "packed_patches.h"

// Windows of three columns of four pixels next to each other, with stride 1. ---------------------------------------

// What of their six columns lies outside the input.
typedef struct {
  bool left, right;
} outside_columns;

// One line of them: a column is loaded once and stored for each pixel that takes it.
DSP_INLINE void widen_three_columns(uint32_t *row, const int8_t *line, int32_t left, int32_t depth, uint32_t offsets,
                                    bool at_edge, outside_columns outside) {
  const uint32_t left_mask = at_edge && outside.left ? 0 : UINT32_MAX;
  const uint32_t right_mask = at_edge && outside.right ? 0 : UINT32_MAX;
  const int32_t end = (left + 1) * depth;
  const int32_t tap = dsp_row_words(depth);
  const int32_t first = at_edge && outside.left ? depth : 0;
  const int32_t last = at_edge && outside.right ? 4 * depth : 5 * depth;
  for (int32_t at = left * depth; at != end; at += DSP_GROUP_COLUMNS) {
    uint32_t *const middle = row + tap;
    uint32_t *const right = middle + tap;
    uint32_t bytes = dsp_load4(&line[at + first]);
    uint32_t even = dsp_add_even(offsets, bytes), odd = dsp_add_odd(offsets, bytes);
    dsp_store_two(row, 0, at_edge ? even & left_mask : even, at_edge ? odd & left_mask : odd);
    bytes = dsp_load4(&line[at + depth]);
    even = dsp_add_even(offsets, bytes);
    odd = dsp_add_odd(offsets, bytes);
    dsp_store_two(middle, 0, even, odd);
    dsp_store_two(row, 2, even, odd);
    bytes = dsp_load4(&line[at + 2 * depth]);
    even = dsp_add_even(offsets, bytes);
    odd = dsp_add_odd(offsets, bytes);
    dsp_store_two(right, 0, even, odd);
    dsp_store_two(middle, 2, even, odd);
    dsp_store_two(row, 4, even, odd);
    bytes = dsp_load4(&line[at + 3 * depth]);
    even = dsp_add_even(offsets, bytes);
    odd = dsp_add_odd(offsets, bytes);
    dsp_store_two(right, 2, even, odd);
    dsp_store_two(middle, 4, even, odd);
    dsp_store_two(row, 6, even, odd);
    bytes = dsp_load4(&line[at + 4 * depth]);
    even = dsp_add_even(offsets, bytes);
    odd = dsp_add_odd(offsets, bytes);
    dsp_store_two(right, 4, even, odd);
    dsp_store_two(middle, 6, even, odd);
    bytes = dsp_load4(&line[at + last]);
    even = dsp_add_even(offsets, bytes);
    odd = dsp_add_odd(offsets, bytes);
    dsp_store_two(right, 6, at_edge ? even & right_mask : even, at_edge ? odd & right_mask : odd);
    row += DSP_GROUP_WORDS;
  }
}

static void clear(uint32_t *words, int32_t count) {
  for (; count != 0; --count) {
    *words++ = 0;
  }
}

// Returns false if it does not take the layer or the place.
DSP_OUT_OF_LINE static bool load_three_columns(const packed_patches *patches, uint32_t *rows) {
  const dmo_shape *const in = patches->input_shape, *const taps = patches->filter_shape;
  const dmo_conv_geometry *const g = &patches->params->geometry;
  const int32_t left = patches->x - g->pad_w;
  if (taps->w != 3 || taps->c % DSP_GROUP_COLUMNS != 0 || g->stride_w != 1 || g->dilation_w != 1 ||
      patches->x + DSP_ROWS > patches->output_shape->w || left < -1 || left + 5 > in->w) {
    return false;
  }
  const outside_columns outside = { left < 0, left + 6 > in->w };
  const uint32_t offsets = dsp_pair(patches->params->input_offset, patches->params->input_offset);
  const int32_t line_words = 3 * dsp_row_words(taps->c);
  int32_t y = patches->y * g->stride_h - g->pad_h;
  for (int32_t fy = 0; fy < taps->h; ++fy) {
    if (y < 0 || y >= in->h) {
      clear(rows, line_words);
    } else {
      const int8_t *const line = &patches->input[y * in->w * in->c];
      if (outside.left || outside.right) {
        widen_three_columns(rows, line, left, in->c, offsets, true, outside);
      } else {
        widen_three_columns(rows, line, left, in->c, offsets, false, outside);
      }
    }
    rows += line_words;
    y += g->dilation_h;
  }
  return true;
}

// Any windows. -----------------------------------------------------------------------------------------------------

// A patch that is being widened: where its next group goes, and the next tap of those that are left of all rows.
typedef struct {
  uint32_t *row, *rest;
  int32_t rest_taps;
  uint32_t offsets;
} patch;

// A tap that is left of its row of taps: columns of a group are in the order 0, 2, 1, 3.
DSP_INLINE void store_rest(patch *to, int32_t value) {
  static const uint8_t place[DSP_GROUP_COLUMNS] = { 0, 2, 1, 3 };
  const int16_t wide = (int16_t)value;
  memcpy((int8_t *)to->rest + 2 * place[to->rest_taps % DSP_GROUP_COLUMNS], &wide, sizeof wide);
  if (++to->rest_taps % DSP_GROUP_COLUMNS == 0) {
    to->rest += DSP_GROUP_WORDS;
  }
}

// `count` bytes of a row of taps.
DSP_INLINE void widen_line(patch *to, const int8_t *from, int32_t count) {
  const int8_t *const end = from + (count & ~(DSP_GROUP_COLUMNS - 1));
  uint32_t *row = to->row;
  while (from != end) {
    DSP_WIDEN_GROUP(row, 0, dsp_load4(from), to->offsets, false);
    from += DSP_GROUP_COLUMNS;
    row += DSP_GROUP_WORDS;
  }
  to->row = row;
  for (int32_t i = 0; i < count % DSP_GROUP_COLUMNS; ++i) {
    store_rest(to, from[i] + dsp_low(to->offsets));
  }
}

// A row of taps some of which lie outside the input, as those are that contribute 0. Byte by byte.
DSP_OUT_OF_LINE static void widen_partly(patch *to, const packed_patches *patches, const int8_t *line, int32_t left) {
  const dmo_shape *const in = patches->input_shape, *const taps = patches->filter_shape;
  const int32_t whole = taps->w * taps->c & ~(DSP_GROUP_COLUMNS - 1);
  int32_t at = 0;
  int8_t *row = (int8_t *)to->row;
  for (int32_t fx = 0; fx < taps->w; ++fx) {
    const int32_t x = left + fx * patches->params->geometry.dilation_w;
    const bool inside = line != NULL && x >= 0 && x < in->w;
    for (int32_t c = 0; c < taps->c; ++c, ++at) {
      const int32_t value = inside ? line[x * in->c + c] + dsp_low(to->offsets) : 0;
      if (at >= whole) {
        store_rest(to, value);
        continue;
      }
      const int16_t wide = (int16_t)value;
      const int32_t column = at % DSP_GROUP_COLUMNS;
      memcpy(row + 2 * (column / 2 + column % 2 * 2), &wide, sizeof wide);
      if (column == DSP_GROUP_COLUMNS - 1) {
        row += DSP_GROUP_WORDS * sizeof(uint32_t);
      }
    }
  }
  to->row = (uint32_t *)(void *)row;
}

// The patch whose first tap is at (top, left).
DSP_OUT_OF_LINE static void load_patch(const packed_patches *patches, uint32_t *row, int32_t top, int32_t left) {
  const dmo_shape *const in = patches->input_shape, *const taps = patches->filter_shape;
  const dmo_conv_geometry *const g = &patches->params->geometry;
  const int32_t line_bytes = taps->w * taps->c, groups = line_bytes / DSP_GROUP_COLUMNS;
  const int32_t rest = taps->h * (line_bytes % DSP_GROUP_COLUMNS);
  const bool inside = g->dilation_w == 1 && left >= 0 && left + taps->w <= in->w;
  patch to = { row, row + taps->h * groups * DSP_GROUP_WORDS, 0,
               dsp_pair(patches->params->input_offset, patches->params->input_offset) };
  for (int32_t fy = 0; fy < taps->h; ++fy) {
    const int32_t y = top + fy * g->dilation_h;
    const int8_t *const line = y < 0 || y >= in->h ? NULL : &patches->input[y * in->w * in->c];
    if (inside && line != NULL) {
      widen_line(&to, &line[left * in->c], line_bytes);
    } else {
      widen_partly(&to, patches, line, left);
    }
  }
  for (int32_t i = rest; i % DSP_GROUP_COLUMNS != 0; ++i) {
    store_rest(&to, 0);
  }
}

void packed_load_patches(packed_patches *patches, int32_t count, uint32_t *rows) {
  const dmo_conv_geometry *const g = &patches->params->geometry;
  if (load_three_columns(patches, rows)) {
    packed_skip(patches, DSP_ROWS);
    return;
  }
  for (int32_t i = 0; i < DSP_ROWS; ++i, rows += 2) {
    load_patch(patches, rows, patches->y * g->stride_h - g->pad_h, patches->x * g->stride_w - g->pad_w);
    if (i + 1 < count) {
      packed_skip(patches, 1);
    }
  }
  packed_skip(patches, 1);
}
