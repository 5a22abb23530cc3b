// SPDX-License-Identifier: MIT OR Apache-2.0
#include "plain_patches.h"
#include "plain.h"

#include <string.h>

static int8_t *fill(int8_t *to, int8_t byte, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    *to++ = byte;
  }
  return to;
}

// By words where they lie at whole words.
static int8_t *copy(int8_t *to, const int8_t *from, int32_t count) {
  if ((((uintptr_t)to | (uintptr_t)from | (uintptr_t)count) & 3u) == 0) {
    for (int32_t i = 0; i < count; i += 4) {
      memcpy(__builtin_assume_aligned(to + i, 4), __builtin_assume_aligned(from + i, 4), 4);
    }
  } else {
    for (int32_t i = 0; i < count; ++i) {
      to[i] = from[i];
    }
  }
  return to + count;
}

void plain_gather_patch(const plain_patch_source *source, int8_t *to, int32_t top, int32_t left) {
  const cmsis_nn_dims *in = source->input_dims;
  const cmsis_nn_dims *taps = source->filter_dims;
  const cmsis_nn_tile dilation = source->params->dilation;
  const int8_t zero = (int8_t)-source->params->input_offset;
  const bool joined = dilation.w == 1 && taps->c == in->c;
  for (int32_t fy = 0; fy < taps->h; ++fy) {
    const int32_t y = top + fy * dilation.h;
    if (y < 0 || y >= in->h) {
      to = fill(to, zero, taps->w * taps->c);
      continue;
    }
    const int8_t *line = &source->input[y * in->w * in->c];
    if (joined && left >= 0 && left + taps->w <= in->w) {
      to = copy(to, &line[left * in->c], taps->w * taps->c);
      continue;
    }
    for (int32_t fx = 0; fx < taps->w; ++fx) {
      const int32_t x = left + fx * dilation.w;
      to = x < 0 || x >= in->w ? fill(to, zero, taps->c) : copy(to, &line[x * in->c], taps->c);
    }
  }
}
