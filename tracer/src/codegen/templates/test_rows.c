// SPDX-License-Identifier: MIT OR Apache-2.0

// A recorded input, from which rows are taken in order.
typedef struct {
  const @element@ *elements;
  int32_t next_row;
} recorded_rows;

static int32_t read_rows(void *user, int32_t first_row, int32_t rows, void *to) {
  recorded_rows *const input = user;
  if (first_row < input->next_row || rows < 1 || rows > @PREFIX@@NAME@_MOST_ROWS ||
      rows > @PREFIX@@NAME@_ROWS - first_row) {
    return -1;
  }
  const size_t row = @PREFIX@@NAME@_ROW_ELEMENTS;
  memcpy(to, input->elements + (size_t)first_row * row, (size_t)rows * row * sizeof(@element@));
  input->next_row = first_row + rows;
  return 0;
}
