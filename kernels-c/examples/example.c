// SPDX-License-Identifier: MIT OR Apache-2.0
#include "example.h"

#include "semihost.h"

#include <string.h>

// A linear congruential generator modulo 2^32; its upper bits are the useful ones.
static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

void fill_s8(int8_t *values, int32_t count, uint32_t seed) {
  for (int32_t i = 0; i < count; ++i) {
    values[i] = (int8_t)((int32_t)(next_random(&seed) % 256u) - 128);
  }
}

void fill_bias(int32_t *values, int32_t count, uint32_t seed) {
  for (int32_t i = 0; i < count; ++i) {
    values[i] = (int32_t)(next_random(&seed) % 4096u) - 2048;
  }
}

void fill_multipliers(int32_t *values, int32_t count, uint32_t seed) {
  for (int32_t i = 0; i < count; ++i) {
    values[i] = (int32_t)((UINT32_C(1) << 30) + next_random(&seed) * 64u);
  }
}

void fill_shifts(int32_t *values, int32_t count, uint32_t seed, int32_t shift) {
  for (int32_t i = 0; i < count; ++i) {
    values[i] = shift - 1 + (int32_t)(next_random(&seed) % 3u);
  }
}

void fill_f32(float *values, int32_t count, uint32_t seed) {
  for (int32_t i = 0; i < count; ++i) {
    values[i] = (float)((int32_t)(next_random(&seed) % 64u) - 32) / 8.0f;
  }
}

static void print_unsigned(uint32_t value, uint32_t base) {
  char text[11];
  char *digit = &text[sizeof text - 1];
  *digit = '\0';
  do {
    *--digit = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  semihost_print(digit);
}

static void print_signed(int32_t value) {
  if (value < 0) {
    semihost_print("-");
  }
  print_unsigned(value < 0 ? 0u - (uint32_t)value : (uint32_t)value, 10);
}

static void print_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  semihost_print("float with bits 0x");
  print_unsigned(bits, 16);
}

static void print_element(const char *layer, int32_t index) {
  semihost_print(layer);
  semihost_print(": element ");
  print_signed(index);
  semihost_print(": expected ");
}

int wrong_s32(const char *layer, int32_t index, int32_t expected, int32_t actual) {
  print_element(layer, index);
  print_signed(expected);
  semihost_print(", got ");
  print_signed(actual);
  semihost_print("\n");
  return 1;
}

int wrong_f32(const char *layer, int32_t index, float expected, float actual) {
  print_element(layer, index);
  print_bits(expected);
  semihost_print(", got ");
  print_bits(actual);
  semihost_print("\n");
  return 1;
}

int check_checksum(const char *layer, const int8_t *values, uint32_t count, uint32_t expected) {
  uint32_t checksum = 2166136261u;
  for (uint32_t i = 0; i < count; ++i) {
    checksum = (checksum ^ (uint8_t)values[i]) * 16777619u;
  }
  if (checksum == expected) {
    return 0;
  }
  semihost_print(layer);
  semihost_print(": expected checksum 0x");
  print_unsigned(expected, 16);
  semihost_print(", got 0x");
  print_unsigned(checksum, 16);
  semihost_print("\n");
  return 1;
}
