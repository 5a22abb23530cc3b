// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the native tests share: counting, and reproducible random data.
#ifndef CHECK_H
#define CHECK_H

#include "dmo_conv.h"

#include <stdbool.h>
#include <stdint.h>

// Counts one case; prints what was being tested, and where, if it failed.
#define CHECK(passed, what, detail) check_case((passed), (what), (int64_t)(detail), __FILE__, __LINE__)
void check_case(bool passed, const char *what, int64_t detail, const char *file, int line);

// Uniform in [min, max].
int32_t random_between(int32_t min, int32_t max);
dmo_shape random_shape(int32_t max_n, int32_t max_h, int32_t max_w, int32_t max_c);

// Of small convolutions, with some groups; of depthwise ones.
typedef struct {
  dmo_shape in, taps, out;
} conv_shapes;
dmo_conv_geometry random_conv_geometry(void);
conv_shapes random_conv_shapes(void);
conv_shapes random_depthwise_shapes(void);

// Exactly as large as asked for, so that the address sanitizer sees every access beyond; the caller frees them.
int8_t *random_s8(int32_t count);
float *random_f32(int32_t count); // multiples of 1/8, as in the examples: their sums of products are exact
int32_t *random_s32(int32_t count, int32_t min, int32_t max);
int64_t *random_s64(int32_t count, int32_t min, int32_t max, int32_t factor); // factor times a number in [min, max]

// Uniform, but one array in eight has only the type's extremes and -1, 0 and 1.
int8_t *edgy_s8(int32_t count);
int16_t *edgy_s16(int32_t count);

// One per file.
void test_quantize(void);
void test_conv(void);
void test_matmul(void);
void test_pool(void);
void test_elementwise(void);
void test_softmax(void);
void test_layout(void);
void test_mean(void);
void test_int16(void);
void test_unary(void);
void test_broadcast(void);
void test_transposed_conv(void);
void test_batched_matmul(void);
void test_move(void);
void test_reduce_axes(void);
void test_resize(void);
void test_svdf(void);
void test_lstm(void);
void test_uint8(void);
void test_int4(void);
void test_depthwise_in_place(void);
void test_pitched(void);
void test_stack(void);
void test_functions(void);
void test_pairs(void);
void test_axes(void);
void test_extents(void);
void test_decode(void);
void test_detection(void);
void test_signal(void);
void test_fft(void);

#endif
