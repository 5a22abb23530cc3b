// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What stacks tensors, moves blocks of pixels, and pads by a mirror image.
#include "check.h"
#include "oracle_operators.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 2000, MAX_PARTS = 4 };

static bool equal(const int8_t *a, int64_t a_index, const int8_t *b, int64_t b_index, int32_t bytes) {
  return memcmp(&a[a_index * bytes], &b[b_index * bytes], (size_t)bytes) == 0;
}

// A stack is a concatenation of tensors with an axis of one element.
static void pack_and_unpack(void) {
  const dmo_stack_size size = { random_between(1, MAX_PARTS), random_between(1, 5), random_between(1, 7) };
  const int32_t bytes = 1 << random_between(0, 3), part_bytes = size.rounds * size.run * bytes;
  dmo_shape shapes[MAX_PARTS];
  int8_t *inputs[MAX_PARTS], *outputs[MAX_PARTS];
  const void *stacked[MAX_PARTS];
  void *separated[MAX_PARTS];
  for (int32_t p = 0; p < size.parts; ++p) {
    shapes[p] = (dmo_shape){ 1, size.rounds, 1, size.run };
    stacked[p] = inputs[p] = random_s8(part_bytes);
    separated[p] = outputs[p] = random_s8(part_bytes);
  }
  int8_t *expected = random_s8(size.parts * part_bytes), *output = random_s8(size.parts * part_bytes);

  dmo_concat(DMO_AXIS_W, bytes, size.parts, shapes, stacked, expected);
  dmo_pack(&size, bytes, stacked, output);
  CHECK(memcmp(output, expected, (size_t)(size.parts * part_bytes)) == 0, "pack", size.parts);
  dmo_unpack(&size, bytes, output, separated);
  for (int32_t p = 0; p < size.parts; ++p) {
    CHECK(memcmp(outputs[p], inputs[p], (size_t)part_bytes) == 0, "unpack", p);
    free(inputs[p]), free(outputs[p]);
  }
  free(expected), free(output);
}

static void blocks(void) {
  const dmo_block_params block = { random_between(1, 3) };
  const int32_t bytes = 1 << random_between(0, 3);
  const dmo_shape small = random_shape(2, 3, 3, 4);
  const dmo_shape image = { small.n, small.h * block.size, small.w * block.size, small.c };
  const dmo_shape deeper = { small.n, small.h, small.w, small.c * block.size * block.size };
  const int32_t count = dmo_shape_size(&image);
  int8_t *input = random_s8(count * bytes), *deep = random_s8(count * bytes), *back = random_s8(count * bytes);

  dmo_space_to_depth(&block, bytes, &image, input, &deeper, deep);
  dmo_depth_to_space(&block, bytes, &deeper, deep, &image, back);
  int32_t i = 0;
  while (i < count && equal(deep, i, input, oracle_space_to_depth_source(&block, &image, &deeper, i), bytes)) {
    ++i;
  }
  CHECK(i == count, "space_to_depth", i);
  CHECK(memcmp(back, input, (size_t)(count * bytes)) == 0, "depth_to_space", count);
  free(input), free(deep), free(back);
}

static void mirror_pad(void) {
  const int32_t bytes = 1 << random_between(0, 3);
  const dmo_shape in = random_shape(3, 4, 4, 4);
  const int32_t extents[] = { in.n, in.h, in.w, in.c };
  dmo_mirror_pad_params params = { .reflect = random_between(0, 1) };
  int32_t padded[4];
  for (int32_t axis = 0; axis < 4; ++axis) {
    const int32_t most = extents[axis] - params.reflect;
    params.before[axis] = random_between(0, most);
    padded[axis] = params.before[axis] + extents[axis] + random_between(0, most);
  }
  const dmo_shape out = { padded[0], padded[1], padded[2], padded[3] };
  const int32_t count = dmo_shape_size(&out);
  int8_t *input = random_s8(dmo_shape_size(&in) * bytes), *output = random_s8(count * bytes);

  dmo_mirror_pad(&params, bytes, &in, input, &out, output);
  int32_t i = 0;
  while (i < count && equal(output, i, input, oracle_mirror_pad_source(&params, &in, &out, i), bytes)) {
    ++i;
  }
  CHECK(i == count, "mirror_pad", i);
  free(input), free(output);
}

void test_stack(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    pack_and_unpack();
    blocks();
    mirror_pad();
  }
}
