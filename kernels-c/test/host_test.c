// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Runs every kernel natively on random small cases and compares each element with the oracle.
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t passed_count, failed_count;
static uint64_t random_state = 88172645463325252u;

void check_case(bool passed, const char *what, int64_t detail, const char *file, int line) {
  if (passed) {
    ++passed_count;
    return;
  }
  ++failed_count;
  printf("%s:%d: %s: wrong at %" PRId64 "\n", file, line, what, detail);
}

static uint32_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 32);
}

int32_t random_between(int32_t min, int32_t max) {
  const uint64_t span = (uint64_t)((int64_t)max - min) + 1;
  return (int32_t)(min + (int64_t)(next_random() % span));
}

dmo_shape random_shape(int32_t max_n, int32_t max_h, int32_t max_w, int32_t max_c) {
  return (dmo_shape){ random_between(1, max_n), random_between(1, max_h), random_between(1, max_w),
                      random_between(1, max_c) };
}

dmo_conv_geometry random_conv_geometry(void) {
  return (dmo_conv_geometry){
    .stride_h = random_between(1, 3),
    .stride_w = random_between(1, 3),
    .dilation_h = random_between(1, 3),
    .dilation_w = random_between(1, 3),
    .pad_h = random_between(0, 4),
    .pad_w = random_between(0, 4),
  };
}

conv_shapes random_conv_shapes(void) {
  const int32_t groups = random_between(1, 3), depth = random_between(1, 5);
  const int32_t filters = groups * random_between(1, 4);
  const dmo_shape in = { random_between(1, 2), random_between(1, 8), random_between(1, 8), groups * depth };
  const dmo_shape taps = { filters, random_between(1, 4), random_between(1, 4), depth };
  return (conv_shapes){ in, taps, { in.n, random_between(1, 6), random_between(1, 6), filters } };
}

conv_shapes random_depthwise_shapes(void) {
  const dmo_shape in = random_shape(2, 8, 8, 5);
  const int32_t channels = in.c * random_between(1, 3);
  const dmo_shape taps = { 1, random_between(1, 4), random_between(1, 4), channels };
  return (conv_shapes){ in, taps, { in.n, random_between(1, 6), random_between(1, 6), channels } };
}

static void *allocate(int32_t count, size_t element_bytes) {
  void *memory = malloc((size_t)count * element_bytes);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

int8_t *random_s8(int32_t count) {
  int8_t *values = allocate(count, sizeof *values);
  for (int32_t i = 0; i < count; ++i) {
    values[i] = (int8_t)random_between(-128, 127);
  }
  return values;
}

float *random_f32(int32_t count) {
  float *values = allocate(count, sizeof *values);
  for (int32_t i = 0; i < count; ++i) {
    values[i] = (float)random_between(-32, 31) / 8.0f;
  }
  return values;
}

int32_t *random_s32(int32_t count, int32_t min, int32_t max) {
  int32_t *values = allocate(count, sizeof *values);
  for (int32_t i = 0; i < count; ++i) {
    values[i] = random_between(min, max);
  }
  return values;
}

int64_t *random_s64(int32_t count, int32_t min, int32_t max, int32_t factor) {
  int64_t *values = allocate(count, sizeof *values);
  for (int32_t i = 0; i < count; ++i) {
    values[i] = (int64_t)random_between(min, max) * factor;
  }
  return values;
}

static int32_t edge(int32_t min, int32_t max) {
  const int32_t edges[] = { min, -1, 0, 1, max };
  return edges[random_between(0, 4)];
}

int8_t *edgy_s8(int32_t count) {
  const bool edges = random_between(0, 7) == 0;
  int8_t *values = allocate(count, sizeof *values);
  for (int32_t i = 0; i < count; ++i) {
    values[i] = (int8_t)(edges ? edge(INT8_MIN, INT8_MAX) : random_between(INT8_MIN, INT8_MAX));
  }
  return values;
}

int16_t *edgy_s16(int32_t count) {
  const bool edges = random_between(0, 7) == 0;
  int16_t *values = allocate(count, sizeof *values);
  for (int32_t i = 0; i < count; ++i) {
    values[i] = (int16_t)(edges ? edge(INT16_MIN, INT16_MAX) : random_between(INT16_MIN, INT16_MAX));
  }
  return values;
}

int main(void) {
  test_quantize();
  test_conv();
  test_matmul();
  test_pool();
  test_elementwise();
  test_softmax();
  test_layout();
  test_mean();
  test_int16();
  test_unary();
  test_broadcast();
  test_transposed_conv();
  test_batched_matmul();
  test_move();
  test_reduce_axes();
  test_resize();
  test_svdf();
  test_lstm();
  test_uint8();
  test_int4();
  test_depthwise_in_place();
  test_pitched();
  test_stack();
  test_functions();
  test_pairs();
  test_axes();
  test_extents();
  test_decode();
  test_detection();
  test_signal();
  test_fft();
  printf("%" PRIu32 " passed, %" PRIu32 " failed\n", passed_count, failed_count);
  return failed_count == 0 ? 0 : 1;
}
