// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every kernel of dmo_dsp_packed.h on random small cases, compared with the reference kernel, natively and on the target.
// Buffers have exactly the bytes that they need: natively the address sanitizer sees every access beyond them, on the
// target stores are seen.
#include "dmo_conv.h"
#include "dmo_matmul.h"
#include "dmo_dsp_packed.h"
#include "semihost.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifndef CASES
#define CASES 3000
#endif

enum { MOST_BUFFERS = 16, GUARD_BYTES = 16, GUARD = 0xa5 };
static struct {
  uint8_t *start;
  int32_t bytes;
} buffers[MOST_BUFFERS];
static int32_t buffer_count;
static uint32_t failures;
static const char *what = "";

static void fail(const char *why) {
  if (++failures <= 20) {
    semihost_print(what);
    semihost_print(": ");
    semihost_print(why);
    semihost_print("\n");
  }
}

static void *allocate(int32_t bytes) {
#ifdef __arm__
  static uint64_t memory[1 << 14];
  static uint32_t used;
  used = buffer_count == 0 ? 0 : used;
  uint8_t *const start = (uint8_t *)memory + used;
  used += ((uint32_t)bytes + GUARD_BYTES + 7u) & ~7u;
  if (used > sizeof memory) {
    semihost_print("the test's memory is too small\n");
    semihost_exit(1);
  }
  memset(start + bytes, GUARD, GUARD_BYTES);
#else
  uint8_t *const start = malloc((size_t)bytes);
#endif
  buffers[buffer_count].start = start;
  buffers[buffer_count++].bytes = bytes;
  return start;
}

static void end_case(void) {
  for (; buffer_count > 0; --buffer_count) {
#ifdef __arm__
    for (int32_t i = 0; i < GUARD_BYTES; ++i) {
      if (buffers[buffer_count - 1].start[buffers[buffer_count - 1].bytes + i] != GUARD) {
        fail("stored behind a buffer");
      }
    }
#else
    free(buffers[buffer_count - 1].start);
#endif
  }
}

static uint64_t random_state = 88172645463325252u;

static int32_t between(int32_t min, int32_t max) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int32_t)(min + (int64_t)((random_state >> 32) % ((uint64_t)((int64_t)max - min) + 1)));
}

static bool one_in(int32_t n) {
  return between(1, n) == 1;
}

// Numbers up to `most`, now and then all of them as large as they can be.
static int8_t *values(int32_t count, int32_t least, int32_t most) {
  int8_t *const result = allocate(count);
  const bool largest = one_in(4);
  for (int32_t i = 0; i < count; ++i) {
    result[i] = (int8_t)(largest ? (one_in(2) ? least : most) : between(least, most));
  }
  return result;
}

static int32_t *numbers(int32_t count, int32_t least, int32_t most) {
  int32_t *const result = allocate(count * (int32_t)sizeof *result);
  for (int32_t i = 0; i < count; ++i) {
    result[i] = between(least, most);
  }
  return result;
}

static void compare(const int8_t *expected, const int8_t *actual, int32_t count) {
  if (memcmp(expected, actual, (size_t)count) != 0) {
    fail("wrong");
  }
}

static uint32_t pair(int32_t low, int32_t high) {
  return (uint32_t)(uint16_t)low | (uint32_t)(uint16_t)high << 16;
}

// The number that two weights share.
static int32_t shared(int32_t p, int32_t q) {
  return 256 * q + p;
}

// What random layers have in common.
typedef struct {
  dmo_conv2d_params params;
  dmo_shape in, taps, out;
  const int8_t *input, *filter;
  const int32_t *bias;
  dmo_quant_per_channel quant;
} layer;

static void random_numbers(layer *l) {
  l->params.input_offset = between(-127, 128);
  l->params.output_offset = between(-128, 127);
  l->params.activation_min = one_in(2) ? -128 : between(-128, 127);
  l->params.activation_max = one_in(2) ? 127 : between(l->params.activation_min, 127);
  l->bias = numbers(l->out.c, -5000, 5000);
  l->quant = (dmo_quant_per_channel){ numbers(l->out.c, 1 << 30, INT32_MAX), numbers(l->out.c, -16, -1) };
  l->input = values(dmo_shape_size(&l->in), -128, 127);
  l->filter = values(dmo_shape_size(&l->taps), -127, 127);
}

// The tap of a filter that is the `index`th of the order of dmo_dsp_packed.h, or -1.
static int32_t tap_at(const dmo_shape *taps, int32_t index) {
  const int32_t line = taps->w * taps->c, whole = line / 4 * 4, rest = line % 4;
  if (index < taps->h * whole) {
    return index / whole * line + index % whole;
  }
  index -= taps->h * whole;
  return index < taps->h * rest ? index / rest * line + whole + index % rest : -1;
}

static int32_t number_at(const layer *l, int32_t channel, int32_t index) {
  const int32_t size = l->taps.h * l->taps.w * l->taps.c, tap = tap_at(&l->taps, index);
  const int8_t *const p = &l->filter[channel * size + tap];
  return tap < 0 ? 0 : shared(p[0], channel + 1 < l->out.c ? p[size] : 0);
}

// Taps of a filter in whole groups.
static int32_t group_columns(const dmo_shape *taps) {
  const int32_t line = taps->w * taps->c;
  return taps->h * (line / 4 * 4) + (taps->h * (line % 4) + 3) / 4 * 4;
}

static uint32_t *pack_pairs(const layer *l, int32_t columns) {
  uint32_t *const packed = allocate((l->out.c + 1) / 2 * (columns / 2 + 4) * (int32_t)sizeof *packed);
  uint32_t *to = packed;
  for (int32_t c = 0; c < l->out.c; c += 2) {
    for (int32_t i = 0; i < columns; i += 4) {
      *to++ = pair(number_at(l, c, i), number_at(l, c, i + 2));
      *to++ = pair(number_at(l, c, i + 1), number_at(l, c, i + 3));
    }
    for (int32_t k = c; k < c + 2; ++k) {
      *to++ = k < l->out.c ? (uint32_t)(32 * l->bias[k] - l->quant.shift[k] - 1) : 0;
      *to++ = k < l->out.c ? (uint32_t)l->quant.multiplier[k] : 0;
    }
  }
  return packed;
}

static void test_convolution(void) {
  what = "dmo_dsp_packed_conv2d_s8";
  layer l = { .in = { between(1, 2), between(1, 9), between(1, 12), one_in(2) ? 4 * between(1, 4) : between(1, 7) } };
  const bool pointwise = one_in(3);
  l.params.geometry = (dmo_conv_geometry){ between(1, 3), between(1, 3), 1, 1, between(0, 2), between(0, 2) };
  l.taps = (dmo_shape){ between(1, 13), between(1, 4), one_in(2) ? 3 : between(1, 5), l.in.c };
  if (one_in(2)) {
    l.params.geometry.stride_w = 1;
  }
  if (pointwise) {
    l.taps.h = l.taps.w = 1;
    l.params.geometry.pad_h = l.params.geometry.pad_w = 0;
  }
  const dmo_conv_geometry *const g = &l.params.geometry;
  l.out = (dmo_shape){ l.in.n, between(1, 6), between(1, 12), l.taps.n };
  if (pointwise) {
    l.out.h = (l.in.h - 1) / g->stride_h + 1;
    l.out.w = (l.in.w - 1) / g->stride_w + 1;
  }
  random_numbers(&l);
  const int32_t bytes = dmo_shape_size(&l.out), scratch_bytes = dmo_dsp_packed_conv2d_s8_scratch_bytes(&l.taps);
  const int32_t columns = group_columns(&l.taps);
  const uint32_t *const packed = pack_pairs(&l, columns);
  if (scratch_bytes != (columns <= 8 ? 0 : 8 * columns)) {
    fail("scratch memory is not that of four rows, or none for up to 8 columns");
  }
  int8_t *const expected = allocate(bytes), *const actual = allocate(bytes);
  dmo_conv2d_s8(&l.params, &l.quant, &l.in, l.input, &l.taps, l.filter, l.bias, &l.out, expected);
  dmo_dsp_packed_conv2d_s8(&l.params, &l.in, l.input, &l.taps, packed, &l.out, actual, scratch_bytes == 0 ? NULL : allocate(scratch_bytes));
  compare(expected, actual, bytes);
  end_case();
}

static uint32_t *pack_blocks(const layer *l) {
  uint32_t *const packed = allocate((l->out.c + 3) / 4 * 25 * (int32_t)sizeof *packed);
  uint32_t *to = packed;
  for (int32_t first = 0; first < l->out.c; first += 4) {
    const int32_t c = first + 4 <= l->out.c ? first : l->out.c - 4;
    for (int32_t tap = 0; tap < 9; ++tap) {
      const uint8_t *const weights = (const uint8_t *)&l->filter[tap * l->out.c + c];
      *to++ = weights[0] | (uint32_t)weights[1] << 8 | (uint32_t)weights[2] << 16 | (uint32_t)weights[3] << 24;
    }
    for (int32_t k = c; k < c + 4; ++k) {
      *to++ = (uint32_t)(2 * l->bias[k]);
      *to++ = (uint32_t)l->quant.multiplier[k];
      const int32_t half_offset = 2 * (l->params.output_offset + 127 - l->params.activation_max) + 1;
      *to++ = (uint32_t)(half_offset * (1 << (-l->quant.shift[k] - 1)));
      *to++ = (uint32_t)(-l->quant.shift[k] - 1);
    }
  }
  return packed;
}

static int32_t most_outputs(int32_t extent, int32_t pad, int32_t stride) {
  return (extent + pad + 1 - 3) / stride + 1;
}

static void test_depthwise(void) {
  what = "dmo_dsp_packed_depthwise_conv2d_3x3_s8";
  layer l = { .in = { between(1, 2), between(1, 8), between(1, 24), between(4, 27) } };
  if (one_in(16)) {
    l.in = (dmo_shape){ 1, between(1, 4), between(1, 4), between(90, 384) };
  }
  l.params.geometry = (dmo_conv_geometry){ between(1, 3), between(1, 3), 1, 1, between(0, 1), between(0, 1) };
  dmo_conv_geometry *const g = &l.params.geometry;
  g->pad_h = l.in.h < 2 ? 1 : g->pad_h;
  g->pad_w = l.in.w < 2 ? 1 : g->pad_w;
  l.taps = (dmo_shape){ 1, 3, 3, l.in.c };
  l.out = (dmo_shape){ l.in.n, between(1, most_outputs(l.in.h, g->pad_h, g->stride_h)),
                       between(1, most_outputs(l.in.w, g->pad_w, g->stride_w)), l.in.c };
  random_numbers(&l);
  const int32_t bytes = dmo_shape_size(&l.out);
  const uint32_t *const packed = pack_blocks(&l);
  int8_t *const expected = allocate(bytes), *const actual = allocate(bytes);
  dmo_depthwise_conv2d_s8(&l.params, &l.quant, &l.in, l.input, &l.taps, l.filter, l.bias, &l.out, expected);
  dmo_dsp_packed_depthwise_conv2d_3x3_s8(&l.params, &l.in, l.input, &l.taps, packed, &l.out, actual);
  compare(expected, actual, bytes);
  end_case();
}

static uint32_t *pack_outputs(const layer *l) {
  const int32_t inputs = l->in.c, blocks = (l->out.c + 7) / 8;
  uint32_t *const packed = allocate(blocks * (inputs / 4 + 1) * 8 * (int32_t)sizeof *packed);
  uint32_t *to = packed;
  for (int32_t first = 0; first < l->out.c; first += 8) {
    for (int32_t i = 0; i < inputs; i += 2) {
      // Inputs 0 and 2, then 1 and 3.
      const int32_t at = i / 4 * 4 + i % 4 / 2;
      for (int32_t o = first; o < first + 8; o += 2) {
        int32_t number[2];
        for (int32_t k = 0; k < 2; ++k) {
          const int8_t *const p = &l->filter[o * inputs + at + 2 * k];
          number[k] = shared(o < l->out.c ? p[0] : 0, o + 1 < l->out.c ? p[inputs] : 0);
        }
        *to++ = pair(number[0], number[1]);
      }
    }
    for (int32_t o = first; o < first + 8; ++o) {
      int32_t sum = 0;
      for (int32_t i = 0; o < l->out.c && i < inputs; ++i) {
        sum += l->filter[o * inputs + i];
      }
      *to++ = o < l->out.c ? (uint32_t)(2 * (l->bias[o] + l->params.input_offset * sum)) : 0;
    }
  }
  return packed;
}

static void test_fully_connected(void) {
  what = "dmo_dsp_packed_fully_connected_s8";
  layer l = { .in = { between(1, 3), 1, 1, 4 * between(1, 24) } };
  l.out = (dmo_shape){ l.in.n, 1, 1, between(1, 26) };
  l.taps = (dmo_shape){ l.out.c, 1, 1, l.in.c };
  random_numbers(&l);
  const dmo_fully_connected_params params = { l.params.input_offset, 0, l.params.output_offset,
                                              l.params.activation_min, l.params.activation_max };
  const dmo_quant_per_tensor quant = { l.quant.multiplier[0], l.quant.shift[0] };
  const dmo_dsp_packed_fully_connected_params packed_params = { params.output_offset, params.activation_min,
                                                            params.activation_max, quant.multiplier, quant.shift };
  const int32_t bytes = dmo_shape_size(&l.out);
  const uint32_t *const packed = pack_outputs(&l);
  int8_t *const expected = allocate(bytes), *const actual = allocate(bytes);
  dmo_fully_connected_s8(&params, &quant, l.in.n, l.in.c, l.out.c, l.input, l.filter, l.bias, expected);
  dmo_dsp_packed_fully_connected_s8(&packed_params, l.in.n, l.in.c, l.out.c, l.input, packed, actual);
  compare(expected, actual, bytes);
  end_case();
}

int main(void) {
  for (int32_t i = 0; i < CASES; ++i) {
    test_convolution();
    test_depthwise();
    test_fully_connected();
  }
  if (failures == 0) {
    semihost_print("all packed cases passed\n");
  }
  return failures == 0 ? 0 : 1;
}
