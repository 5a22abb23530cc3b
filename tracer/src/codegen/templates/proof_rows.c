// SPDX-License-Identifier: MIT OR Apache-2.0
@banner@
#include "@prefix@model.h"

#include <string.h>

// An input in memory.
typedef struct {
  const unsigned char *rows;
  int32_t row_bytes;
} rows_in_memory;

int32_t @prefix@rows_of_memory(void *user, int32_t first_row, int32_t rows, void *to);

int32_t @prefix@rows_of_memory(void *user, int32_t first_row, int32_t rows, void *to) {
  const rows_in_memory *const input = user;
  memmove(to, input->rows + first_row * input->row_bytes, (size_t)(rows * input->row_bytes));
  return 0;
}
