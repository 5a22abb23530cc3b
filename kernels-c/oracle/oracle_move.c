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

int64_t oracle_space_to_depth_source(const dmo_block_params *block, const dmo_shape *input_shape,
                                     const dmo_shape *output_shape, int32_t index) {
  const oracle_position out = oracle_position_of(output_shape, index);
  const int64_t pixel = out.c / input_shape->c;
  return oracle_index(input_shape, out.n, out.h * block->size + pixel / block->size,
                      out.w * block->size + pixel % block->size, out.c % input_shape->c);
}

int64_t oracle_space_to_batch_source(const dmo_batch_params *params, const dmo_shape *input_shape,
                                     const dmo_shape *output_shape, int32_t index) {
  const oracle_position out = oracle_position_of(output_shape, index);
  // The images of one place in the block follow each other, and the places row by row.
  const int64_t place = out.n / input_shape->n, image = out.n % input_shape->n;
  const int64_t down = place / params->block_w, right = place % params->block_w;
  const int64_t row = down + params->block_h * out.h - params->before_h;
  const int64_t column = right + params->block_w * out.w - params->before_w;
  const bool exists = row >= 0 && row < input_shape->h && column >= 0 && column < input_shape->w;
  return exists ? oracle_index(input_shape, image, row, column, out.c) : -1;
}

int64_t oracle_update_slice_source(const dmo_update_slice_size *size, const int64_t *begins, int32_t index) {
  int64_t rest = index, source = 0, stride = 1;
  for (int32_t axis = size->axes - 1; axis >= 0; --axis) {
    const int64_t last = size->input[axis] - size->update[axis];
    const int64_t begin = begins[axis] > last ? last : begins[axis] < 0 ? 0 : begins[axis];
    const int64_t at = rest % size->input[axis] - begin;
    if (at < 0 || at >= size->update[axis]) {
      return -1;
    }
    source += at * stride;
    stride *= size->update[axis];
    rest /= size->input[axis];
  }
  return source;
}

// A mirror lies on the outermost elements, or half an element beyond them: what is `d` before it is what is `d` after.
static int64_t reflected(int64_t at, int64_t extent, bool on_elements) {
  const int64_t first_twice = on_elements ? 0 : -1, last_twice = 2 * (extent - 1) - first_twice;
  return at < 0 ? first_twice - at : at >= extent ? last_twice - at : at;
}

int64_t oracle_mirror_pad_source(const dmo_mirror_pad_params *params, const dmo_shape *input_shape,
                                 const dmo_shape *output_shape, int32_t index) {
  const oracle_position out = oracle_position_of(output_shape, index);
  const bool on_elements = params->reflect != 0;
  return oracle_index(input_shape, reflected(out.n - params->before[0], input_shape->n, on_elements),
                      reflected(out.h - params->before[1], input_shape->h, on_elements),
                      reflected(out.w - params->before[2], input_shape->w, on_elements),
                      reflected(out.c - params->before[3], input_shape->c, on_elements));
}

bool oracle_reduces_to(const dmo_shape *input_shape, int64_t input_index, const dmo_shape *output_shape,
                       int32_t index) {
  const oracle_position in = oracle_position_of(input_shape, input_index);
  const oracle_position out = oracle_position_of(output_shape, index);
  return (output_shape->n == 1 || in.n == out.n) && (output_shape->h == 1 || in.h == out.h) &&
         (output_shape->w == 1 || in.w == out.w) && (output_shape->c == 1 || in.c == out.c);
}
