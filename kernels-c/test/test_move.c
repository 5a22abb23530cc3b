// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "dmo_rows.h"
#include "oracle_operators.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 3000, MAX_PARTS = 4 };

static int32_t random_bytes(void) {
  return 1 << random_between(0, 3);
}

static int32_t *extent(dmo_shape *shape, int32_t axis) {
  int32_t *extents[] = { &shape->n, &shape->h, &shape->w, &shape->c };
  return extents[axis];
}

static bool equal(const int8_t *a, int64_t a_index, const int8_t *b, int64_t b_index, int32_t bytes) {
  return memcmp(&a[a_index * bytes], &b[b_index * bytes], (size_t)bytes) == 0;
}

// Concatenates random parts, and splits the result into them again.
static void concat_and_split(void) {
  const int32_t axis = random_between(0, 3), parts = random_between(1, MAX_PARTS), bytes = random_bytes();
  dmo_shape whole = random_shape(3, 4, 4, 5), shapes[MAX_PARTS];
  int8_t *inputs[MAX_PARTS], *outputs[MAX_PARTS];
  const void *concatenated[MAX_PARTS];
  void *separated[MAX_PARTS];
  *extent(&whole, axis) = 0;
  for (int32_t p = 0; p < parts; ++p) {
    shapes[p] = whole;
    *extent(&shapes[p], axis) = random_between(1, 4);
    concatenated[p] = inputs[p] = random_s8(dmo_shape_size(&shapes[p]) * bytes);
    separated[p] = outputs[p] = random_s8(dmo_shape_size(&shapes[p]) * bytes);
  }
  for (int32_t p = 0; p < parts; ++p) {
    *extent(&whole, axis) += *extent(&shapes[p], axis);
  }
  int8_t *output = random_s8(dmo_shape_size(&whole) * bytes);

  dmo_concat(axis, bytes, parts, shapes, concatenated, output);
  dmo_split(axis, bytes, parts, shapes, output, separated);
  int32_t i = 0;
  while (i < dmo_shape_size(&whole)) {
    int32_t part;
    const int64_t source = oracle_concat_source((dmo_axis)axis, shapes, &whole, i, &part);
    if (!equal(output, i, inputs[part], source, bytes) || !equal(output, i, outputs[part], source, bytes)) {
      break;
    }
    ++i;
  }
  CHECK(i == dmo_shape_size(&whole), "concat or split", i);
  for (int32_t p = 0; p < parts; ++p) {
    free(inputs[p]), free(outputs[p]);
  }
  free(output);
}

static void pad(void) {
  const int32_t bytes = random_bytes();
  const dmo_shape in = random_shape(2, 4, 4, 4);
  const dmo_padding before = { random_between(0, 1), random_between(0, 3), random_between(0, 3), random_between(0, 2) };
  const dmo_shape out = {
    in.n + before.n + random_between(0, 1),
    in.h + before.h + random_between(0, 3),
    in.w + before.w + random_between(0, 3),
    in.c + before.c + random_between(0, 2),
  };
  int8_t *input = random_s8(dmo_shape_size(&in) * bytes), *output = random_s8(dmo_shape_size(&out) * bytes);
  int8_t *value = random_s8(bytes);

  dmo_pad(&before, value, bytes, &in, input, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out)) {
    const int64_t source = oracle_pad_source(&before, &in, &out, i);
    if (source < 0 ? !equal(output, i, value, 0, bytes) : !equal(output, i, input, source, bytes)) {
      break;
    }
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "pad", i);
  free(input), free(output), free(value);
}

static void transpose(void) {
  const int32_t bytes = random_bytes();
  dmo_shape in = random_shape(4, 4, 4, 4), out;
  dmo_transpose_params params = { { 0, 1, 2, 3 } };
  for (int32_t axis = 3; axis > 0; --axis) {
    const int32_t other = random_between(0, axis), kept = params.axes[axis];
    params.axes[axis] = params.axes[other];
    params.axes[other] = kept;
  }
  for (int32_t axis = 0; axis < 4; ++axis) {
    *extent(&out, axis) = *extent(&in, params.axes[axis]);
  }
  int8_t *input = random_s8(dmo_shape_size(&in) * bytes), *output = random_s8(dmo_shape_size(&out) * bytes);

  dmo_transpose(&params, bytes, &in, input, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) &&
         equal(output, i, input, oracle_transpose_source(&params, &in, &out, i), bytes)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "transpose", i);
  free(input), free(output);
}

static void slices(void) {
  const int32_t bytes = random_bytes();
  dmo_shape in = random_shape(3, 6, 6, 5), sliced_shape, strided_shape;
  dmo_slice_params slice;
  dmo_strided_slice_params unit, strided;
  for (int32_t axis = 0; axis < 4; ++axis) {
    const int32_t last = *extent(&in, axis) - 1;
    unit.begin[axis] = slice.begin[axis] = random_between(0, last);
    unit.stride[axis] = 1;
    *extent(&sliced_shape, axis) = random_between(1, last - slice.begin[axis] + 1);
    const int32_t begin = random_between(0, last);
    // A stride of 0 takes one coordinate again and again.
    const int32_t stride = random_between(0, 3) * (random_between(0, 1) == 0 ? -1 : 1);
    const int32_t last_step = stride == 0 ? 4 : stride < 0 ? begin / -stride : (last - begin) / stride;
    strided.begin[axis] = begin;
    strided.stride[axis] = stride;
    *extent(&strided_shape, axis) = random_between(1, last_step + 1);
  }
  int8_t *input = random_s8(dmo_shape_size(&in) * bytes);
  int8_t *sliced_output = random_s8(dmo_shape_size(&sliced_shape) * bytes);
  int8_t *strided_output = random_s8(dmo_shape_size(&strided_shape) * bytes);

  dmo_slice(&slice, bytes, &in, input, &sliced_shape, sliced_output);
  dmo_strided_slice(&strided, bytes, &in, input, &strided_shape, strided_output);
  int32_t i = 0;
  while (i < dmo_shape_size(&sliced_shape) &&
         equal(sliced_output, i, input, oracle_strided_slice_source(&unit, &in, &sliced_shape, i), bytes)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&sliced_shape), "slice", i);
  i = 0;
  while (i < dmo_shape_size(&strided_shape) &&
         equal(strided_output, i, input, oracle_strided_slice_source(&strided, &in, &strided_shape, i), bytes)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&strided_shape), "strided_slice", i);
  free(input), free(sliced_output), free(strided_output);
}

// An image that is spread over batches, each element where the oracle wants it, and back.
static void batches(void) {
  const int32_t bytes = random_bytes();
  const dmo_shape image = random_shape(2, 6, 6, 3);
  const dmo_batch_params params = { random_between(1, 3), random_between(1, 3), random_between(0, 4), random_between(0, 4) };
  const dmo_shape spread = {
    image.n * params.block_h * params.block_w,
    (image.h + params.before_h + params.block_h - 1) / params.block_h + random_between(0, 2),
    (image.w + params.before_w + params.block_w - 1) / params.block_w + random_between(0, 2),
    image.c,
  };
  const int32_t count = dmo_shape_size(&image), spread_count = dmo_shape_size(&spread);
  int8_t *input = random_s8(count * bytes), *output = random_s8(spread_count * bytes), *back = random_s8(count * bytes);
  int8_t *value = random_s8(bytes);
  int32_t found = 0, i = 0;

  dmo_space_to_batch(&params, value, bytes, &image, input, &spread, output);
  dmo_batch_to_space(&params, bytes, &spread, output, &image, back);
  while (i < spread_count) {
    const int64_t source = oracle_space_to_batch_source(&params, &image, &spread, i);
    found += source < 0 ? 0 : 1;
    if (source < 0 ? !equal(output, i, value, 0, bytes) : !equal(output, i, input, source, bytes)) {
      break;
    }
    ++i;
  }
  CHECK(i == spread_count && found == count, "space_to_batch", i);
  CHECK(memcmp(input, back, (size_t)(count * bytes)) == 0, "batch_to_space", count);
  free(input), free(output), free(back), free(value);
}

static int32_t inside(int32_t index, int32_t extent) {
  return index < 0 ? 0 : index < extent ? index : extent - 1;
}

// Indices of one axis, or of two, some of them beyond.
static void gathers(void) {
  const int32_t bytes = random_bytes();
  const int32_t rows = random_between(1, 5), columns = random_between(1, 4);
  const dmo_gather_size size = {
    .batches = random_between(1, 3), .outer = random_between(1, 3), .run = random_between(1, 4),
    .count = random_between(1, 6), .axes = random_between(1, 2), .extents = { rows, columns },
  };
  const int32_t positions = size.axes == 1 ? rows : rows * columns, blocks = size.batches * size.outer;
  int8_t *input = random_s8(blocks * positions * size.run * bytes);
  int8_t *output = random_s8(blocks * size.count * size.run * bytes);
  int32_t *indices = random_s32(size.batches * size.count * size.axes, -1, 5);
  int32_t wrong = 0;

  dmo_gather(&size, bytes, input, indices, output);
  for (int32_t block = 0; block < blocks; ++block) {
    for (int32_t i = 0; i < size.count; ++i) {
      const int32_t *tuple = &indices[(block / size.outer * size.count + i) * size.axes];
      const int32_t row = inside(tuple[0], rows);
      const int32_t position = size.axes == 1 ? row : row * columns + inside(tuple[1], columns);
      for (int32_t e = 0; e < size.run; ++e) {
        const int32_t to = (block * size.count + i) * size.run + e, from = (block * positions + position) * size.run + e;
        wrong += equal(output, to, input, from, bytes) ? 0 : 1;
      }
    }
  }
  CHECK(wrong == 0, "gather", wrong);
  free(input), free(output), free(indices);
}

// Some begin before their axis, or too late for the update.
static void update_slice(void) {
  const int32_t bytes = random_bytes();
  dmo_update_slice_size size = { .axes = random_between(1, 6), .begin_bytes = 4 * random_between(1, 2) };
  int32_t count = 1, updated = 1, wrong = 0;
  for (int32_t axis = 0; axis < size.axes; ++axis) {
    size.input[axis] = random_between(1, 4);
    size.update[axis] = random_between(1, size.input[axis]);
    count *= size.input[axis];
    updated *= size.update[axis];
  }
  int8_t *input = random_s8(count * bytes), *update = random_s8(updated * bytes), *output = random_s8(count * bytes);
  int64_t *begins = random_s64(size.axes, -1, 4, random_between(0, 9) == 0 ? INT32_MAX : 1);
  int32_t *narrow = random_s32(size.axes, 0, 0);
  for (int32_t axis = 0; axis < size.axes; ++axis) {
    begins[axis] = size.begin_bytes == 8 || begins[axis] < 9 ? begins[axis] : INT32_MAX;
    narrow[axis] = size.begin_bytes == 8 ? 0 : (int32_t)(begins[axis] < -1 ? INT32_MIN : begins[axis]);
  }

  dmo_update_slice(&size, bytes, input, update, size.begin_bytes == 8 ? (const void *)begins : narrow, output);
  for (int32_t i = 0; i < count; ++i) {
    const int64_t source = oracle_update_slice_source(&size, begins, i);
    wrong += (source < 0 ? equal(output, i, input, i, bytes) : equal(output, i, update, source, bytes)) ? 0 : 1;
  }
  CHECK(wrong == 0, "update_slice", wrong);
  dmo_update_slice(&size, bytes, input, update, size.begin_bytes == 8 ? (const void *)begins : narrow, input);
  CHECK(memcmp(input, output, (size_t)(count * bytes)) == 0, "update_slice in its input", count);
  free(input), free(update), free(output), free(begins), free(narrow);
}

static void reshape(void) {
  const int32_t bytes = random_bytes(), count = random_between(1, 100);
  int8_t *input = random_s8(count * bytes), *output = random_s8(count * bytes);

  dmo_reshape(bytes, count, input, output);
  dmo_reshape(bytes, count, input, input);
  CHECK(memcmp(input, output, (size_t)(count * bytes)) == 0, "reshape", count);
  free(input), free(output);
}

// Some rows after others: what is left is the last bytes of all of them.
static void circular_buffer(void) {
  const int32_t row = random_between(1, 20), kept = row * random_between(1, 6), rows = random_between(1, 12);
  int8_t *all = random_s8(kept + row * rows), *buffer = random_s8(kept);
  memcpy(buffer, all, (size_t)kept);
  for (int32_t i = 0; i < rows; ++i) {
    dmo_circular_buffer(row, kept, all + kept + i * row, buffer);
  }
  CHECK(memcmp(buffer, all + row * rows, (size_t)kept) == 0, "circular_buffer", rows);
  free(all), free(buffer);
}

// An image in memory, of which the next rows are asked for.
typedef struct {
  const int8_t *rows;
  int32_t row_bytes, next;
} image;

static int32_t read_image(void *user, int32_t first_row, int32_t rows, void *to) {
  image *from = user;
  if (first_row < from->next) {
    return -1;
  }
  memcpy(to, from->rows + first_row * from->row_bytes, (size_t)(rows * from->row_bytes));
  from->next = first_row + rows;
  return 0;
}

// The last rows that are there and the next ones, in place of those that are there or below them.
static void next_rows(void) {
  const int32_t row = random_between(1, 20), there = random_between(1, 6), more = random_between(1, 5);
  const int32_t kept = random_between(0, there), below = random_between(0, 8);
  int8_t *all = random_s8(row * (there + more)), *memory = random_s8(below + row * (there + more));
  int8_t *other = random_s8(row * (kept + more));
  image from = {all, row, 0};
  int32_t failed = dmo_next_rows(read_image, &from, 0, there, all, 0, memory + below);
  const int8_t *last = memory + below + row * (there - kept);
  failed |= dmo_next_rows_in_memory(all + row * there, row * more, last, row * kept, other);
  failed |= dmo_next_rows(read_image, &from, there, more, last, row * kept, memory);
  const size_t bytes = (size_t)(row * (kept + more));
  const int8_t *expected = all + row * (there - kept);
  CHECK(failed == 0 && memcmp(memory, expected, bytes) == 0, "next_rows", row);
  CHECK(memcmp(other, expected, bytes) == 0, "next_rows_in_memory", row);
  CHECK(dmo_next_rows(read_image, &from, 0, 1, all, 0, memory) != 0, "next_rows that are gone", row);
  free(all), free(memory), free(other);
}

// Rows kept in place, or moved down over themselves.
static void keep_rows(void) {
  const int32_t bytes = random_between(0, 60), below = random_between(0, 20);
  int8_t *memory = random_s8(below + bytes), *expected = random_s8(bytes);
  memcpy(expected, memory + below, (size_t)bytes);
  dmo_keep_rows(memory + below, bytes, memory);
  CHECK(memcmp(memory, expected, (size_t)bytes) == 0, "keep_rows", bytes);
  free(memory), free(expected);
}

void test_move(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    concat_and_split();
    pad();
    transpose();
    slices();
    batches();
    gathers();
    update_slice();
    reshape();
    circular_buffer();
    next_rows();
    keep_rows();
  }
}
