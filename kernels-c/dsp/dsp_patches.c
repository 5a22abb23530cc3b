// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_patches.h"
#include "dsp_three_columns.h"

static uint32_t *clear(uint32_t *row, int32_t columns) {
  for (int32_t i = 0; i < columns; i += DSP_GROUP_COLUMNS) {
    row[0] = 0;
    row[1] = 0;
    row += DSP_GROUP_WORDS;
  }
  return row;
}

// All four rows.
static void clear_all(uint32_t *rows, int32_t columns) {
  for (int32_t i = dsp_row_words(columns); i != 0; --i) {
    *rows++ = 0;
  }
}

static uint32_t *widen(const dsp_patch_source *source, uint32_t *row, const int8_t *from, int32_t count) {
  const int32_t offset = source->params->input_offset;
  return dsp_widen(row, from, count, offset, false);
}

// The patch whose first tap is at (top, left). Taps outside the input contribute nothing: 0.
DSP_OUT_OF_LINE static void load_patch(const dsp_patch_source *source, uint32_t *row, int32_t top, int32_t left) {
  const cmsis_nn_dims *in = source->input_dims;
  const cmsis_nn_dims *taps = source->filter_dims;
  const cmsis_nn_tile dilation = source->params->dilation;
  const bool joined = dilation.w == 1 && taps->c == in->c;
  for (int32_t fy = 0; fy < taps->h; ++fy) {
    const int32_t y = top + fy * dilation.h;
    if (y < 0 || y >= in->h) {
      row = clear(row, taps->w * taps->c);
      continue;
    }
    const int8_t *line = &source->input[y * in->w * in->c];
    if (joined && left >= 0 && left + taps->w <= in->w) {
      row = widen(source, row, &line[left * in->c], taps->w * taps->c);
      continue;
    }
    for (int32_t fx = 0; fx < taps->w; ++fx) {
      const int32_t x = left + fx * dilation.w;
      row = x < 0 || x >= in->w ? clear(row, taps->c) : widen(source, row, &line[x * in->c], taps->c);
    }
  }
}

// The patches of four pixels next to each other. Returns false if it does not take the layer or the place.
DSP_OUT_OF_LINE static bool load_three_columns(const dsp_patch_source *source, uint32_t *rows, int32_t top,
                                               int32_t left) {
  const cmsis_nn_dims *in = source->input_dims;
  const cmsis_nn_dims *taps = source->filter_dims;
  const int32_t offset = source->params->input_offset;
  if (taps->w != 3 || taps->c != in->c || source->params->stride.w != 1 || source->params->dilation.w != 1 ||
      left < -1 || left + 5 > in->w) {
    return false;
  }
  const dsp_outside outside = { left < 0, left + 6 > in->w };
  for (int32_t fy = 0; fy < taps->h; ++fy) {
    const int32_t y = top + fy * source->params->dilation.h;
    if (y < 0 || y >= in->h) {
      clear_all(rows, 3 * taps->c);
    } else {
      const int8_t *const line = &source->input[y * in->w * in->c];
      if (outside.left || outside.right) {
        dsp_widen_three_columns(rows, line, left, in->c, dsp_pair(offset, offset), true, outside);
      } else {
        dsp_widen_three_columns(rows, line, left, in->c, dsp_pair(offset, offset), false, outside);
      }
    }
    rows += 3 * dsp_row_words(taps->c);
  }
  return true;
}

static int8_t *fill(int8_t *to, int8_t byte, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    *to++ = byte;
  }
  return to;
}

// By words, the last of which may take some bytes once more.
DSP_INLINE int8_t *copy(int8_t *to, const int8_t *from, int32_t count) {
  if (count < 4) {
    for (int32_t i = 0; i < count; ++i) {
      to[i] = from[i];
    }
    return to + count;
  }
  const int32_t last = count - 4;
  for (int32_t i = 0; i < last; i += 4) {
    dsp_store4(&to[i], dsp_load4(&from[i]));
  }
  dsp_store4(&to[last], dsp_load4(&from[last]));
  return to + count;
}

// The gathered bytes, and in the last group those that the offset makes 0.
DSP_INLINE void widen_gathered(const dsp_patch_source *source, uint32_t *row, int8_t *bytes, int8_t *end) {
  const int32_t count = (int32_t)(end - bytes);
  fill(end, (int8_t)-source->params->input_offset, -count & 3);
  dsp_widen(row, bytes, (count + 3) & ~3, source->params->input_offset, false);
}

// The same by way of `bytes`. Taps outside the input are the byte that the offset makes 0.
DSP_OUT_OF_LINE static void gather_patch(const dsp_patch_source *source, uint32_t *row, int32_t top, int32_t left,
                                         int8_t *bytes) {
  const cmsis_nn_dims *in = source->input_dims;
  const cmsis_nn_dims *taps = source->filter_dims;
  const cmsis_nn_tile dilation = source->params->dilation;
  const bool joined = dilation.w == 1 && taps->c == in->c;
  const int32_t line_bytes = taps->w * taps->c;
  const int8_t zero = (int8_t)-source->params->input_offset;
  int8_t *to = bytes;
  if (top >= 0 && top + (taps->h - 1) * dilation.h < in->h && joined && left >= 0 && left + taps->w <= in->w) {
    const int8_t *from = &source->input[(top * in->w + left) * in->c];
    for (int32_t fy = taps->h; fy != 0; --fy) {
      to = copy(to, from, line_bytes);
      from += dilation.h * in->w * in->c;
    }
    widen_gathered(source, row, bytes, to);
    return;
  }
  for (int32_t fy = 0; fy < taps->h; ++fy) {
    const int32_t y = top + fy * dilation.h;
    if (y < 0 || y >= in->h) {
      to = fill(to, zero, line_bytes);
      continue;
    }
    const int8_t *line = &source->input[y * in->w * in->c];
    if (joined && left >= 0 && left + taps->w <= in->w) {
      to = copy(to, &line[left * in->c], line_bytes);
      continue;
    }
    for (int32_t fx = 0; fx < taps->w; ++fx) {
      const int32_t x = left + fx * dilation.w;
      to = x < 0 || x >= in->w ? fill(to, zero, taps->c) : copy(to, &line[x * in->c], taps->c);
    }
  }
  widen_gathered(source, row, bytes, to);
}

// Whether windows are of 3x3x3, as in the first layer of many networks.
static bool is_3x3x3(const dsp_patch_source *source) {
  const cmsis_nn_dims *taps = source->filter_dims;
  const cmsis_nn_tile dilation = source->params->dilation;
  return taps->h == 3 && taps->w == 3 && taps->c == 3 && source->input_dims->c == 3 && dilation.h == 1 &&
         dilation.w == 1;
}

// One of them that lies inside the input: its three lines of nine bytes make seven groups, the last of which lacks a
// column.
DSP_OUT_OF_LINE static void widen_3x3x3(uint32_t *row, const int8_t *from, int32_t line, int32_t offset) {
  const uint32_t offsets = dsp_pair(offset, offset);
  const int8_t *const middle = from + line, *const lower = middle + line;
  const uint32_t upper0 = dsp_load4(from), upper1 = dsp_load4(from + 4), upper2 = (uint8_t)from[8];
  DSP_WIDEN_GROUP(row, 0, upper0, offsets, false);
  DSP_WIDEN_GROUP(row, DSP_GROUP_WORDS, upper1, offsets, false);
  const uint32_t middle0 = dsp_load4(middle), middle1 = dsp_load4(middle + 4), middle2 = (uint8_t)middle[8];
  DSP_WIDEN_GROUP(row, 2 * DSP_GROUP_WORDS, upper2 | middle0 << 8, offsets, false);
  DSP_WIDEN_GROUP(row, 3 * DSP_GROUP_WORDS, middle0 >> 24 | middle1 << 8, offsets, false);
  const uint32_t lower0 = dsp_load4(lower), lower1 = dsp_load4(lower + 4), lower2 = (uint8_t)lower[8];
  DSP_WIDEN_GROUP(row, 4 * DSP_GROUP_WORDS, middle1 >> 24 | middle2 << 8 | lower0 << 16, offsets, false);
  DSP_WIDEN_GROUP(row, 5 * DSP_GROUP_WORDS, lower0 >> 16 | lower1 << 16, offsets, false);
  const uint32_t last = lower1 >> 16 | lower2 << 16;
  dsp_store_two(row, 6 * DSP_GROUP_WORDS, dsp_add_even(offsets, last), dsp_add_odd(offsets, last) & 0xffffu);
}

void dsp_load_patches(const dsp_patch_source *source, const cmsis_nn_dims *output_dims, int32_t oy, int32_t ox,
                      int32_t count, uint32_t *rows, int8_t *bytes) {
  const cmsis_nn_conv_params *params = source->params;
  const cmsis_nn_dims *in = source->input_dims;
  const bool small = is_3x3x3(source), gathered = dsp_is_gathered(source->filter_dims);
  if (!gathered && ox + DSP_ROWS <= output_dims->w &&
      load_three_columns(source, rows, oy * params->stride.h - params->padding.h,
                         ox * params->stride.w - params->padding.w)) {
    return;
  }
  for (int32_t i = 0; i < DSP_ROWS; ++i, rows += 2) {
    const int32_t top = oy * params->stride.h - params->padding.h, left = ox * params->stride.w - params->padding.w;
    if (small && top >= 0 && top + 3 <= in->h && left >= 0 && left + 3 <= in->w) {
      widen_3x3x3(rows, &source->input[(top * in->w + left) * 3], 3 * in->w, params->input_offset);
    } else if (gathered) {
      gather_patch(source, rows, top, left, bytes);
    } else {
      load_patch(source, rows, top, left);
    }
    if (i + 1 < count && ++ox == output_dims->w) {
      ox = 0;
      ++oy;
    }
  }
}
