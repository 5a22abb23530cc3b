// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Copies one element of 1, 2, 4 or 8 bytes, aligned to its size, as one load and one store of that size.
#ifndef DMO_COPY_ELEMENT_H
#define DMO_COPY_ELEMENT_H

#include <stdint.h>
#include <string.h>

// A memcpy of a constant size is a load and a store for the compiler; unlike an access through a pointer to an integer
// it may copy a float.
static inline void dmo_copy_element(int32_t element_bytes, const char *from, char *to) {
  switch (element_bytes) {
  case 1: memcpy(to, from, 1); break;
  case 2: memcpy(to, from, 2); break;
  case 4: memcpy(to, from, 4); break;
  default: memcpy(to, from, 8); break;
  }
}

#endif
