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
