// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the example programs share: reproducible data, and the report of a wrong element.
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdint.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

// Pseudo-random values, the same on every target. A seed always yields the same sequence.
void fill_s8(int8_t *values, int32_t count, uint32_t seed);                  // -128 to 127
void fill_bias(int32_t *values, int32_t count, uint32_t seed);               // -2048 to 2047
void fill_multipliers(int32_t *values, int32_t count, uint32_t seed);        // 2^30 to 2^31 - 1
void fill_shifts(int32_t *values, int32_t count, uint32_t seed, int32_t shift); // shift - 1 to shift + 1

// Multiples of 1/8 from -4 to 3.875: sums of products of such numbers are exact in float, in whatever order.
void fill_f32(float *values, int32_t count, uint32_t seed);

// Print which element of a layer's output is wrong, and return the exit status 1.
int wrong_s32(const char *layer, int32_t index, int32_t expected, int32_t actual);
int wrong_f32(const char *layer, int32_t index, float expected, float actual);

// Compares a checksum (FNV-1a, 32 bit) of a large output with the right one: exit status 0, or a message and 1.
int check_checksum(const char *layer, const int8_t *values, uint32_t count, uint32_t expected);

#endif
