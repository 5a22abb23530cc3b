// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the tests of dsp/ share: memory of exactly the size that is asked for, random layers, comparison, and how far
// output and input may overlap by the formulas of the interface's headers.
//
// CHANNELS_OUTSIDE and PLAIN say which of the three libraries is linked.
#ifndef DSP_CASES_H
#define DSP_CASES_H

#include "arm_nnfunctions.h"
#include "dmo_conv.h"
#include "semihost.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifndef CHANNELS_OUTSIDE
#define CHANNELS_OUTSIDE 0
#endif
#ifndef PLAIN
#define PLAIN 0
#endif

// Memory of one case: exactly as large as asked for, each piece with a canary behind it. Natively the pieces are
// separate, so that the address sanitizer sees every access beyond them.
enum { MAX_PIECES = 48, CANARY_BYTES = 16, CANARY = 0xa5 };
static struct {
  uint8_t *start;
  uint32_t bytes;
} pieces[MAX_PIECES];
static uint32_t piece_count;

#ifdef __arm__
static uint64_t arena[1 << 15];
static uint32_t arena_used;
static inline uint8_t *take(uint32_t bytes) {
  uint8_t *const start = (uint8_t *)arena + arena_used;
  arena_used += (bytes + 7u) & ~7u;
  if (arena_used > sizeof arena) {
    semihost_print("the test's memory is too small\n");
    semihost_exit(1);
  }
  return start;
}
static inline void give_back(uint8_t *start) {
  (void)start;
  arena_used = 0;
}
#else
static inline uint8_t *take(uint32_t bytes) {
  return malloc(bytes);
}
static inline void give_back(uint8_t *start) {
  free(start);
}
#endif

static uint32_t failures, cases_run;
static const char *what = "";
static uint32_t case_number;

static inline void print_number(uint32_t value) {
  char text[11];
  char *digit = &text[sizeof text - 1];
  *digit = '\0';
  do {
    *--digit = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  semihost_print(digit);
}

static inline void fail(const char *why, uint32_t detail) {
  ++failures;
  if (failures > 20) {
    return;
  }
  semihost_print(what);
  semihost_print(", case ");
  print_number(case_number);
  semihost_print(": ");
  semihost_print(why);
  semihost_print(" ");
  print_number(detail);
  semihost_print("\n");
}

static inline void *allocate(int32_t bytes) {
  uint8_t *const start = take((uint32_t)bytes + CANARY_BYTES);
  memset(start + bytes, CANARY, CANARY_BYTES);
  pieces[piece_count].start = start;
  pieces[piece_count].bytes = (uint32_t)bytes;
  ++piece_count;
  return start;
}

static inline void end_case(void) {
  for (uint32_t i = 0; i < piece_count; ++i) {
    for (uint32_t k = 0; k < CANARY_BYTES; ++k) {
      if (pieces[i].start[pieces[i].bytes + k] != CANARY) {
        fail("stored behind piece", i);
      }
    }
    give_back(pieces[i].start);
  }
  piece_count = 0;
  ++cases_run;
}

static uint64_t random_state = 88172645463325252u;

static inline int32_t between(int32_t min, int32_t max) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  const uint64_t span = (uint64_t)((int64_t)max - min) + 1;
  return (int32_t)(min + (int64_t)((random_state >> 32) % span));
}

static inline bool one_in(int32_t n) {
  return between(1, n) == 1;
}

static inline int8_t *values(int32_t count) {
  int8_t *const result = allocate(count);
  for (int32_t i = 0; i < count; ++i) {
    result[i] = one_in(16) ? (int8_t)(between(0, 1) == 0 ? -128 : 127) : (int8_t)between(-128, 127);
  }
  return result;
}

static inline int32_t *numbers(int32_t count, int32_t min, int32_t max) {
  int32_t *const result = allocate(count * (int32_t)sizeof *result);
  for (int32_t i = 0; i < count; ++i) {
    result[i] = between(min, max);
  }
  return result;
}

// Scratch of exactly `bytes`; none where none is needed.
static inline cmsis_nn_context scratch(int32_t bytes) {
  cmsis_nn_context ctx = { NULL, bytes };
  if (bytes > 0) {
    ctx.buf = allocate(bytes);
    memset(ctx.buf, 0x5a, (size_t)bytes);
  }
  return ctx;
}

static inline void compare(const char *why, const int8_t *expected, const int8_t *actual, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (expected[i] != actual[i]) {
      fail(why, (uint32_t)i);
      return;
    }
  }
}

static inline void expect_status(arm_cmsis_nn_status expected, arm_cmsis_nn_status actual) {
  if (expected != actual) {
    fail("status", (uint32_t)-actual);
  }
}

static inline int32_t size_of(const cmsis_nn_dims *dims) {
  return dims->n * dims->h * dims->w * dims->c;
}

static inline dmo_shape shape_of(const cmsis_nn_dims *dims) {
  return (dmo_shape){ dims->n, dims->h, dims->w, dims->c };
}

static inline int32_t max_of(int32_t a, int32_t b) {
  return a > b ? a : b;
}

static inline int32_t floor4(int32_t value) {
  return value & ~3;
}

static inline int32_t floor2(int32_t value) {
  return value & ~1;
}

// A layer in space, whatever its operator.
typedef struct {
  cmsis_nn_dims in, taps, out; // taps: n filters of c channels
  cmsis_nn_tile stride, padding, dilation;
} layer_geometry;

// The first byte of the batch that the pixel loads, or the batch's bytes if it loads none.
static inline int32_t first_tap(const layer_geometry *g, int32_t pixel) {
  const int32_t top = pixel / g->out.w * g->stride.h - g->padding.h;
  const int32_t left = pixel % g->out.w * g->stride.w - g->padding.w;
  for (int32_t fy = 0; fy < g->taps.h; ++fy) {
    for (int32_t fx = 0; fx < g->taps.w; ++fx) {
      const int32_t y = top + fy * g->dilation.h, x = left + fx * g->dilation.w;
      if (y >= 0 && y < g->in.h && x >= 0 && x < g->in.w) {
        return (y * g->in.w + x) * g->in.c;
      }
    }
  }
  return g->in.h * g->in.w * g->in.c;
}

// S by the formulas of the header: pixels in blocks of `block` and `behind` more bytes.
static inline int32_t displacement(const layer_geometry *g, int32_t block, int32_t behind) {
  const int32_t pixels = g->out.h * g->out.w;
  const int32_t in_batch = g->in.h * g->in.w * g->in.c;
  int32_t first = in_batch, result = 0;
  for (int32_t q = pixels - 1; q >= 0; --q) {
    const int32_t tap = first_tap(g, q);
    first = tap < first ? tap : first;
    if (first < in_batch) {
      result = max_of(result, q / block * block * g->out.c + behind - first);
    }
  }
  return result + (g->out.n - 1) * max_of(0, pixels * g->out.c - in_batch);
}

// Of plain/, by filters of 1x1: pairs of pixels of a row, or of all pixels with stride 1; pairs of channels, of which
// the last is stored after all loads.
static inline int32_t pairs_displacement(const layer_geometry *g, bool joined) {
  const int32_t width = joined ? g->out.n * g->out.h * g->out.w : g->out.w;
  const int32_t rows = joined ? 1 : g->out.n * g->out.h;
  int32_t result = 0;
  for (int32_t row = 0; row < rows; ++row) {
    const int32_t input_row = row / g->out.h * g->in.h + row % g->out.h * g->stride.h;
    for (int32_t x = 0; x < width; x += 2) {
      const int32_t last = x + 1 < width ? x + 1 : x;
      const int32_t stored = (row * width + last) * g->out.c + floor2(g->out.c - 1);
      result = max_of(result, stored - (input_row * g->in.w + x * g->stride.w) * g->in.c);
    }
  }
  return result;
}

// A buffer in which the input lies S above the output.
static inline int8_t *overlap(const int8_t *input, int32_t input_bytes, int32_t output_bytes, int32_t s) {
  int8_t *const memory = allocate(max_of(output_bytes, s + input_bytes));
  memcpy(memory + s, input, (size_t)input_bytes);
  return memory;
}

// Quantisation: usual numbers, and numbers that only the exact way takes.
static inline cmsis_nn_per_channel_quant_params random_quant(int32_t channels, int32_t **bias) {
  int32_t *const multiplier = numbers(channels, 1 << 30, INT32_MAX);
  int32_t *shift = numbers(channels, -12, -1);
  *bias = one_in(5) ? NULL : numbers(channels, -5000, 5000);
  const int32_t special = between(0, 11);
  const int32_t channel = between(0, channels - 1);
  if (special == 0) {
    shift[channel] = between(0, 1);
  } else if (special == 1) {
    shift[channel] = between(-31, -13);
  } else if (special == 2 && *bias != NULL) {
    // Around the largest sum of the fast way.
    const int32_t large = (1 << 30) - between(0, 1 << between(1, 24));
    (*bias)[channel] = one_in(2) ? large : -large;
  } else if (special == 3) {
    multiplier[channel] = 0;
  } else if (special == 4 && *bias != NULL) {
    shift[channel] = -between(21, 23);
    (*bias)[channel] = between(-(1 << 30), 1 << 30);
  } else if (special == 5 && *bias != NULL) {
    // Channels without weights to speak of have biases like that, and sums that fit in 32 bits nevertheless.
    shift[channel] = between(-31, 0);
    const int32_t large = between(1 << 30, INT32_MAX - (1 << 26));
    (*bias)[channel] = one_in(2) ? large : -large;
  } else if (special == 6) {
    multiplier[channel] = shift[channel] = 0;
  }
  return (cmsis_nn_per_channel_quant_params){ multiplier, shift };
}

static inline cmsis_nn_activation random_activation(void) {
  if (one_in(2)) {
    return (cmsis_nn_activation){ -128, 127 };
  }
  const int32_t min = between(-128, 127);
  return (cmsis_nn_activation){ min, between(min, 127) };
}

static inline int32_t random_channels(void) {
  return one_in(12) ? between(30, 70) : one_in(2) ? 4 * between(1, 4) : between(1, 9);
}

static inline layer_geometry random_geometry(void) {
  layer_geometry g = {
    .in = { between(1, 2), between(1, 8), between(1, 8), random_channels() },
    .taps = { 0, between(1, 4), between(1, 4), 0 },
    .stride = { between(1, 3), between(1, 3) },
    .dilation = { 1, 1 },
    .padding = { between(0, 2), between(0, 2) },
  };
  if (one_in(4)) {
    g.dilation = (cmsis_nn_tile){ between(1, 3), between(1, 3) };
  }
  if (one_in(8)) {
    g.padding = (cmsis_nn_tile){ between(0, 5), between(0, 5) };
  }
  g.out = (cmsis_nn_dims){ g.in.n, between(1, 6), between(1, 6), 0 };
  return g;
}

// A layer as the reference kernels take it.
static inline dmo_conv2d_params reference_params(const layer_geometry *g, int32_t input_offset, int32_t output_offset,
                                                 cmsis_nn_activation activation) {
  return (dmo_conv2d_params){
    .geometry = { g->stride.h, g->stride.w, g->dilation.h, g->dilation.w, g->padding.h, g->padding.w },
    .input_offset = input_offset,
    .output_offset = output_offset,
    .activation_min = activation.min,
    .activation_max = activation.max,
  };
}

// The convolutions with 8-bit activations; EVEN is one with weights of 4 bits.
typedef enum { CONVOLVE, WRAPPER, POINTWISE_FAST, POINTWISE, ONE_ROW, EVEN } convolution;

typedef struct {
  cmsis_nn_conv_params params;
  cmsis_nn_per_channel_quant_params quant;
  layer_geometry g;
  int32_t groups;
  const int8_t *filter; // left to the test
  const int32_t *bias;
} conv_case;

// Filters of one tap; every output has its pixel of the input.
static inline void make_pointwise(layer_geometry *g, bool is_fast) {
  g->taps.h = g->taps.w = 1;
  g->padding = (cmsis_nn_tile){ 0, 0 };
  if (is_fast || one_in(2)) {
    g->stride = (cmsis_nn_tile){ 1, 1 };
  }
  g->out.h = (g->in.h - 1) / g->stride.h + 1;
  g->out.w = (g->in.w - 1) / g->stride.w + 1;
}

// Windows of which some rows lie in the input as they are.
static inline void make_joined(layer_geometry *g) {
  const bool small = one_in(2);
  g->in.c = g->taps.c = small ? 3 : between(1, 3);
  g->taps.h = small ? 3 : between(1, 6);
  g->taps.w = small ? 3 : between(1, 6);
  g->dilation.w = 1;
  g->in.w = between(1, 14);
  g->out.w = between(1, 14);
}

// A layer that the function takes.
static inline conv_case random_convolution(convolution function) {
  conv_case c = { .g = random_geometry(), .groups = 1 };
  layer_geometry *const g = &c.g;
  g->taps.c = g->in.c;
  g->out.c = random_channels();
  if (function == POINTWISE_FAST || function == POINTWISE || (function == WRAPPER && one_in(2))) {
    make_pointwise(g, function == POINTWISE_FAST);
  } else if (function == ONE_ROW) {
    g->in.h = g->taps.h = g->out.h = 1;
    g->padding.h = 0;
    g->dilation.w = 1;
  } else if (one_in(4)) {
    make_joined(g);
  } else if (one_in(3)) {
    c.groups = between(2, 3);
    g->in.c = c.groups * g->taps.c;
    g->out.c = c.groups * between(1, 5);
  }
  if (function == EVEN && g->taps.h * g->taps.w * g->taps.c % 2 != 0) {
    g->taps.w += 1;
  }
  g->taps.n = g->out.c;
  c.params = (cmsis_nn_conv_params){ .input_offset = between(-127, 128), .output_offset = between(-128, 127),
                                     .stride = g->stride, .padding = g->padding, .dilation = g->dilation,
                                     .activation = random_activation() };
  int32_t *bias;
  c.quant = random_quant(g->out.c, &bias);
  c.bias = bias;
  return c;
}

// The filter as TensorFlow Lite Micro gives it: functions of 1x1 also with what it says of a fully connected layer's.
static inline cmsis_nn_dims given_taps(convolution function, const layer_geometry *g) {
  const bool of_layer = (function == POINTWISE || function == POINTWISE_FAST) && one_in(2);
  return of_layer ? (cmsis_nn_dims){ g->taps.c, 1, 1, g->out.c } : g->taps;
}

// What TensorFlow Lite Micro has set when it asks how much scratch a depthwise convolution wants.
static inline cmsis_nn_dw_conv_params known_when_asked(const cmsis_nn_dw_conv_params *params) {
  cmsis_nn_dw_conv_params known;
  memset(&known, between(-128, 127), sizeof known);
  known.padding = params->padding;
  known.dilation = params->dilation;
  return known;
}

static inline bool is_pointwise(const layer_geometry *g) {
  return g->taps.h == 1 && g->taps.w == 1 && g->taps.c == g->in.c && g->padding.h == 0 && g->padding.w == 0;
}

static inline bool is_pointwise_fast(const layer_geometry *g) {
  return is_pointwise(g) && g->stride.h == 1 && g->stride.w == 1 && g->out.h == g->in.h && g->out.w == g->in.w;
}

static inline int32_t pointwise_fast_displacement(const layer_geometry *g) {
  const int32_t pixels = g->out.n * g->out.h * g->out.w;
  if (!CHANNELS_OUTSIDE) {
    return floor4(pixels - 1) * max_of(0, g->out.c - g->in.c);
  }
  return g->out.c > 4 ? (pixels - 1) * g->out.c + floor4(g->out.c - 1) : (pixels - 1) * max_of(0, g->out.c - g->in.c);
}

static inline int32_t convolution_displacement(convolution function, const layer_geometry *g) {
  if (PLAIN) {
    const bool inside = is_pointwise(g) && (g->out.h - 1) * g->stride.h < g->in.h &&
                        (g->out.w - 1) * g->stride.w < g->in.w;
    return function == POINTWISE_FAST || function == POINTWISE || (function == WRAPPER && inside)
               ? pairs_displacement(g, is_pointwise_fast(g))
               : displacement(g, 2, 0);
  }
  const bool is_fast = function == POINTWISE_FAST || (function == WRAPPER && is_pointwise_fast(g));
  return function == POINTWISE ? displacement(g, 1, floor4(g->out.c - 1))
         : is_fast             ? pointwise_fast_displacement(g)
                               : displacement(g, 4, 0);
}

#endif
