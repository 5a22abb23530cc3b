// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the native tests share: counting, and reproducible random data.
#ifndef CHECK_H
#define CHECK_H

#include "dmo_shape.h"

#include <stdbool.h>
#include <stdint.h>

// Counts one case; prints what was being tested, and where, if it failed.
#define CHECK(passed, what, detail) check_case((passed), (what), (int64_t)(detail), __FILE__, __LINE__)
void check_case(bool passed, const char *what, int64_t detail, const char *file, int line);

// Uniform in [min, max].
int32_t random_between(int32_t min, int32_t max);
dmo_shape random_shape(int32_t max_n, int32_t max_h, int32_t max_w, int32_t max_c);

// Exactly as large as asked for, so that the address sanitizer sees every access beyond; the caller frees them.
int8_t *random_s8(int32_t count);
float *random_f32(int32_t count); // multiples of 1/8, as in the examples: their sums of products are exact
int32_t *random_s32(int32_t count, int32_t min, int32_t max);

// One per file.
void test_quantize(void);
void test_conv(void);
void test_matmul(void);
void test_pool(void);
void test_elementwise(void);
void test_softmax(void);
void test_layout(void);
void test_mean(void);

#endif
