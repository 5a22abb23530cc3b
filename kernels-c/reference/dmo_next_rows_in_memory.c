// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_rows.h"

#include <string.h>

typedef struct {
  const void *source;
  int32_t bytes;
} rows_in_memory;

static int32_t read_memory(void *user, int32_t first_row, int32_t rows, void *to) {
  (void)first_row;
  (void)rows;
  const rows_in_memory *memory = user;
  memcpy(to, memory->source, (size_t)memory->bytes);
  return 0;
}

int32_t dmo_next_rows_in_memory(const void *source, int32_t new_bytes, const void *kept, int32_t kept_bytes,
                                void *output) {
  rows_in_memory memory = {source, new_bytes};
  return dmo_next_rows(read_memory, &memory, 0, 0, kept, kept_bytes, output);
}
