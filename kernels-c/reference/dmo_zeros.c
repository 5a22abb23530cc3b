// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_copy_element.h"
#include "dmo_extents.h"

void dmo_zeros(int32_t element_bytes, int32_t count, void *output) {
  static const int64_t zero = 0;
  char *to = output;
  for (int32_t i = 0; i < count; ++i) {
    dmo_copy_element(element_bytes, (const char *)&zero, to);
    to += element_bytes;
  }
}
