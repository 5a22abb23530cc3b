// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_rows.h"

#include <string.h>

int32_t dmo_next_rows(dmo_read_rows read, void *user, int32_t first_row, int32_t rows, const void *kept,
                      int32_t kept_bytes, void *output) {
  memmove(output, kept, (size_t)kept_bytes);
  return read(user, first_row, rows, (char *)output + kept_bytes);
}
