// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle.h"

int64_t oracle_pad_source(const dmo_padding *before, const dmo_shape *input_shape, const dmo_shape *output_shape,
                          int32_t index) {
  const oracle_position out = oracle_position_of(output_shape, index);
  const oracle_position in = { out.n - before->n, out.h - before->h, out.w - before->w, out.c - before->c };
  if (in.n < 0 || in.h < 0 || in.w < 0 || in.c < 0) {
    return -1;
  }
  if (in.n >= input_shape->n || in.h >= input_shape->h || in.w >= input_shape->w || in.c >= input_shape->c) {
    return -1;
  }
  return oracle_index(input_shape, in.n, in.h, in.w, in.c);
}

int64_t oracle_concat_source(dmo_axis axis, const dmo_shape *input_shapes, const dmo_shape *output_shape, int32_t index,
                             int32_t *input) {
  const oracle_position out = oracle_position_of(output_shape, index);
  int64_t at[] = { out.n, out.h, out.w, out.c };
  *input = 0;
  for (;;) {
    const dmo_shape *shape = &input_shapes[*input];
    const int64_t extents[] = { shape->n, shape->h, shape->w, shape->c };
    if (at[axis] < extents[axis]) {
      return oracle_index(shape, at[0], at[1], at[2], at[3]);
    }
    at[axis] -= extents[axis];
    ++*input;
  }
}
