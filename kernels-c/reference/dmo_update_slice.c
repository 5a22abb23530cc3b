// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_copy_element.h"
#include "dmo_move.h"

// The index on an axis at which the update begins, moved so that all of it lies inside.
static int32_t begin_of(const dmo_update_slice_size *size, const void *begins, int32_t axis) {
  const int64_t begin =
      size->begin_bytes == 8 ? ((const int64_t *)begins)[axis] : (int64_t)((const int32_t *)begins)[axis];
  const int32_t room = size->input[axis] - size->update[axis];
  return begin < 0 ? 0 : begin < room ? (int32_t)begin : room;
}

void dmo_update_slice(const dmo_update_slice_size *size, int32_t element_bytes, const void *input, const void *update,
                      const void *begins, void *output) {
  const int32_t last = size->axes - 1;
  int32_t count = 1, rows = 1;
  for (int32_t axis = 0; axis < size->axes; ++axis) {
    count *= size->input[axis];
    rows *= axis < last ? size->update[axis] : 1;
  }
  if (input != output) {
    for (int32_t i = 0; i < count; ++i) {
      dmo_copy_element(element_bytes, (const char *)input + i * element_bytes, (char *)output + i * element_bytes);
    }
  }
  int32_t begin[6];
  for (int32_t axis = 0; axis < size->axes; ++axis) {
    begin[axis] = begin_of(size, begins, axis);
  }
  const char *from = update;
  for (int32_t row = 0; row < rows; ++row) {
    // The row's index on each axis but the last, from the last of these to the first.
    int32_t rest = row, stride = size->input[last], at = begin[last];
    for (int32_t axis = last - 1; axis >= 0; --axis) {
      at += (begin[axis] + rest % size->update[axis]) * stride;
      rest /= size->update[axis];
      stride *= size->input[axis];
    }
    char *to = (char *)output + at * element_bytes;
    for (int32_t i = 0; i < size->update[last]; ++i) {
      dmo_copy_element(element_bytes, from, to);
      from += element_bytes;
      to += element_bytes;
    }
  }
}
