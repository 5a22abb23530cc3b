// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_patch_s16.h"

// One patch that is being filled.
typedef struct {
  int16_t *to;     // its first column
  int32_t grouped; // columns in whole groups
  int32_t column;  // the next
  int32_t back;    // of columns behind them: elements from where the first column of a group would lie
} patch;

// Where the columns of a group lie within it.
static const uint8_t places[4] = { 0, 2, 1, 3 };

DSP_INLINE void put_one(int16_t *to, int32_t value) {
  const int16_t half = (int16_t)value;
  memcpy(to, &half, sizeof half);
}

// `count` values from the input, where they lie one after the other, or zeros.
DSP_INLINE void put(patch *p, const int16_t *from, int32_t count, bool is_zero) {
  int32_t column = p->column;
  p->column += count;
  int32_t grouped = p->grouped - column < count ? p->grouped - column : count;
  if (grouped > 0) {
    count -= grouped;
    int16_t *to = &p->to[2 * (column & ~3)];
    int32_t within = column & 3;
    column += grouped;
    if (within != 0) {
      for (; within < 4 && grouped > 0; --grouped) {
        put_one(&to[places[within++]], is_zero ? 0 : *from++);
      }
      to += 8;
    }
    for (; grouped >= 4; grouped -= 4) {
      const uint32_t first = is_zero ? 0 : dsp_load_pair(from), second = is_zero ? 0 : dsp_load_pair(from + 2);
      dsp_store_pair(to, dsp_lows(first, second));
      dsp_store_pair(to + 2, dsp_highs(first, second));
      from += is_zero ? 0 : 4;
      to += 8;
    }
    for (within = 0; within < grouped; ++within) {
      put_one(&to[places[within]], is_zero ? 0 : *from++);
    }
  }
  int16_t *to = &p->to[2 * column - p->back];
  for (; count > 0; --count) {
    put_one(to, is_zero ? 0 : *from++);
    to += 2;
  }
}

DSP_OUT_OF_LINE static void put_values(patch *p, const int16_t *from, int32_t count) {
  put(p, from, count, false);
}

DSP_OUT_OF_LINE static void put_zeros(patch *p, int32_t count) {
  put(p, NULL, count, true);
}

void dsp_load_patch_s16(const dsp_patches_s16 *patches, const int16_t *input, uint32_t *to, int32_t pixel, int32_t top,
                        int32_t left) {
  const cmsis_nn_dims *const in = patches->input_dims;
  const cmsis_nn_dims *const taps = patches->filter_dims;
  const cmsis_nn_tile dilation = patches->params->dilation;
  const bool joined = dilation.w == 1 && taps->c == in->c && left >= 0 && left + taps->w <= in->w;
  patch p = { (int16_t *)(void *)to + 4 * pixel, patches->columns & ~3, 0, 3 * pixel };
  for (int32_t fy = 0; fy < taps->h; ++fy) {
    const int32_t y = top + fy * dilation.h;
    if (y < 0 || y >= in->h) {
      put_zeros(&p, taps->w * taps->c);
      continue;
    }
    const int16_t *const line = &input[y * in->w * in->c];
    if (joined) {
      put_values(&p, &line[left * in->c], taps->w * taps->c);
      continue;
    }
    for (int32_t fx = 0; fx < taps->w; ++fx) {
      const int32_t x = left + fx * dilation.w;
      if (x < 0 || x >= in->w) {
        put_zeros(&p, taps->c);
      } else {
        put_values(&p, &line[x * in->c], taps->c);
      }
    }
  }
}
