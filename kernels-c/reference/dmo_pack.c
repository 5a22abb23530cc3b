// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_copy_element.h"
#include "dmo_move.h"

void dmo_pack(const dmo_stack_size *size, int32_t element_bytes, const void *const *inputs, void *output) {
  const int32_t run_bytes = size->run * element_bytes;
  for (int32_t part = 0; part < size->parts; ++part) {
    const char *from = inputs[part];
    for (int32_t round = 0; round < size->rounds; ++round) {
      char *to = (char *)output + (round * size->parts + part) * run_bytes;
      for (int32_t i = 0; i < run_bytes; i += element_bytes) {
        dmo_copy_element(element_bytes, from + round * run_bytes + i, to + i);
      }
    }
  }
}
