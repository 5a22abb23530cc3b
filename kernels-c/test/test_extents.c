// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "dmo_extents.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 1000, MAX_AXES = 6 };

static void shape_of(void) {
  const int32_t axes = random_between(1, MAX_AXES);
  int32_t *extents = random_s32(axes, 1, INT32_MAX), *output = random_s32(axes, 0, 9);
  dmo_shape_of(axes, extents, output);
  CHECK(memcmp(extents, output, (size_t)axes * sizeof *output) == 0, "shape_of", axes);
  free(extents), free(output);
}

static void zeros(void) {
  const int32_t bytes = 1 << random_between(0, 3), count = random_between(1, 50);
  int8_t *output = random_s8(bytes * count);
  dmo_zeros(bytes, count, output);
  int32_t set = 0;
  for (int32_t i = 0; i < bytes * count; ++i) {
    set += output[i] != 0 ? 1 : 0;
  }
  CHECK(set == 0, "zeros", set);
  free(output);
}

// Two shapes that one can be broadcast to, each without some of its first axes, which have an extent of 1 then.
static void broadcast_args(void) {
  const dmo_broadcast_args_size size = { random_between(1, 5), random_between(1, 5), MAX_AXES };
  int32_t expected[MAX_AXES];
  int64_t *input1 = random_s64(size.input1, 1, 1, 1), *input2 = random_s64(size.input2, 1, 1, 1);
  for (int32_t from_end = 1; from_end <= MAX_AXES; ++from_end) {
    const int32_t extent = random_between(0, 9), alone = random_between(0, 2);
    int32_t longest = 1;
    if (from_end <= size.input1 && alone != 1) {
      input1[size.input1 - from_end] = longest = extent;
    }
    if (from_end <= size.input2 && alone != 0) {
      input2[size.input2 - from_end] = longest = extent;
    }
    expected[MAX_AXES - from_end] = longest;
  }
  int32_t *narrow1 = random_s32(size.input1, 0, 0), *narrow2 = random_s32(size.input2, 0, 0);
  for (int32_t i = 0; i < size.input1; ++i) {
    narrow1[i] = (int32_t)input1[i];
  }
  for (int32_t i = 0; i < size.input2; ++i) {
    narrow2[i] = (int32_t)input2[i];
  }
  int32_t *output = random_s32(MAX_AXES, -9, -1), wrong = 0;
  int64_t *wide = random_s64(MAX_AXES, -9, -1, 1);
  dmo_broadcast_args_s32(&size, narrow1, narrow2, output);
  dmo_broadcast_args_s64(&size, input1, input2, wide);
  for (int32_t axis = 0; axis < MAX_AXES; ++axis) {
    wrong += output[axis] == expected[axis] && wide[axis] == expected[axis] ? 0 : 1;
  }
  CHECK(wrong == 0, "broadcast_args", wrong);
  free(input1), free(input2), free(narrow1), free(narrow2), free(output), free(wide);
}

void test_extents(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    shape_of();
    zeros();
    broadcast_args();
  }
}
