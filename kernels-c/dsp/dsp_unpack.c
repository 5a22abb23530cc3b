// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_int4.h"

// Up to seven weights.
static int8_t *unpack_some(const int8_t *packed, int32_t first, int32_t count, int8_t *to) {
  if (count >= 4) {
    dsp_store4(to, dsp_bytes_of_int4(dsp_load_int4x4(packed, first)));
    first += 4;
    count -= 4;
    to += 4;
  }
  for (int32_t i = 0; i < count; ++i) {
    *to++ = (int8_t)dsp_int4_at(packed, first + i);
  }
  return to;
}

void dsp_unpack(const int8_t *packed, int32_t first, int32_t count, int8_t *to) {
  for (; count >= 8; count -= 8) {
    const uint32_t word = dsp_load_int4x8(packed, first);
    dsp_store4(to, dsp_bytes_of_int4(word));
    dsp_store4(to + 4, dsp_bytes_of_int4(word >> 16));
    first += 8;
    to += 8;
  }
  unpack_some(packed, first, count, to);
}

DSP_INLINE void store_mixed(int8_t *to, uint32_t word) {
  const uint32_t raised = dsp_raise8(word);
  dsp_store4(to, dsp_subtract4(raised & 0x0f0f0f0fu, 0x08080808u));
  dsp_store4(to + 4, dsp_subtract4(raised >> 4 & 0x0f0f0f0fu, 0x08080808u));
}

// A channel that begins with a byte, and one that begins within a byte.
static int8_t *unpack_whole(const int8_t *from, int32_t columns, int8_t *to) {
  int8_t *const end = to + (columns & ~7);
  if ((columns & 8) != 0) {
    store_mixed(to, dsp_load4(from));
    from += 4;
    to += 8;
  }
  while (to != end) {
    const uint32_t word0 = dsp_load4(from), word1 = dsp_load4(from + 4);
    store_mixed(to, word0);
    store_mixed(to + 8, word1);
    from += 8;
    to += 16;
  }
  return to;
}

static int8_t *unpack_split(const int8_t *from, int32_t columns, int8_t *to) {
  for (int8_t *const end = to + (columns & ~7); to != end; to += 8) {
    store_mixed(to, dsp_load4(from) >> 4 | (uint32_t)from[4] << 28);
    from += 4;
  }
  return to;
}

void dsp_unpack_mixed(const int8_t *packed, int32_t first, int32_t columns, int8_t *to) {
  const int8_t *const from = &packed[first / 2];
  to = first % 2 == 0 ? unpack_whole(from, columns, to) : unpack_split(from, columns, to);
  const int32_t rest = columns & 7;
  if (rest != 0) {
    to = unpack_some(packed, first + columns - rest, rest, to);
    for (int32_t i = -columns & (DSP_GROUP_COLUMNS - 1); i != 0; --i) {
      *to++ = 0;
    }
  }
}

void dsp_mix_rows(uint32_t *rows, int32_t columns) {
  for (; columns >= 2 * DSP_GROUP_COLUMNS; columns -= 2 * DSP_GROUP_COLUMNS) {
    for (int32_t i = 0; i < DSP_GROUP_WORDS; i += 2) {
      uint32_t *const first = &rows[i], *const second = &rows[i + DSP_GROUP_WORDS];
      const uint32_t even0 = first[0], odd0 = first[1], even1 = second[0], odd1 = second[1];
      first[0] = dsp_lows(even0, even1);
      first[1] = dsp_highs(even0, even1);
      second[0] = dsp_lows(odd0, odd1);
      second[1] = dsp_highs(odd0, odd1);
    }
    rows += 2 * DSP_GROUP_WORDS;
  }
}
