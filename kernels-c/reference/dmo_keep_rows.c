// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_rows.h"

#include <string.h>

void dmo_keep_rows(const void *kept, int32_t kept_bytes, void *output) {
  memmove(output, kept, (size_t)kept_bytes);
}
