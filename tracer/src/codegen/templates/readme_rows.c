// SPDX-License-Identifier: MIT OR Apache-2.0

// Stores rows of the input, @row_elements@ elements each, as they come from a camera or a file.
static int32_t read_rows(void *user, int32_t first_row, int32_t rows, void *to) {
  @element@ *const elements = (@element@ *)to;
  // ...
  return 0;
}
