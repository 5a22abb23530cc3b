// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle_operators.h"

int64_t oracle_transpose_source(const dmo_transpose_params *params, const dmo_shape *input_shape,
                                const dmo_shape *output_shape, int32_t index) {
  const oracle_position out = oracle_position_of(output_shape, index);
  const int64_t at[] = { out.n, out.h, out.w, out.c };
  int64_t in[4];
  for (int32_t axis = 0; axis < 4; ++axis) {
    in[params->axes[axis]] = at[axis];
  }
  return oracle_index(input_shape, in[0], in[1], in[2], in[3]);
}

int64_t oracle_strided_slice_source(const dmo_strided_slice_params *params, const dmo_shape *input_shape,
                                    const dmo_shape *output_shape, int32_t index) {
  const oracle_position out = oracle_position_of(output_shape, index);
  const int64_t at[] = { out.n, out.h, out.w, out.c };
  const int64_t extents[] = { input_shape->n, input_shape->h, input_shape->w, input_shape->c };
  int64_t source = 0;
  for (int32_t axis = 0; axis < 4; ++axis) {
    source = source * extents[axis] + params->begin[axis] + at[axis] * params->stride[axis];
  }
  return source;
}

bool oracle_reduces_to(const dmo_shape *input_shape, int64_t input_index, const dmo_shape *output_shape,
                       int32_t index) {
  const oracle_position in = oracle_position_of(input_shape, input_index);
  const oracle_position out = oracle_position_of(output_shape, index);
  return (output_shape->n == 1 || in.n == out.n) && (output_shape->h == 1 || in.h == out.h) &&
         (output_shape->w == 1 || in.w == out.w) && (output_shape->c == 1 || in.c == out.c);
}
