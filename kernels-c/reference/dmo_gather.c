// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_copy_element.h"
#include "dmo_move.h"
#include "dmo_quantize.h"

void dmo_gather(const dmo_gather_size *size, int32_t element_bytes, const void *input, const int32_t *indices,
                void *output) {
  int32_t positions = 1;
  for (int32_t axis = 0; axis < size->axes; ++axis) {
    positions *= size->extents[axis];
  }
  char *to = output;
  for (int32_t b = 0; b < size->batches; ++b) {
    for (int32_t o = 0; o < size->outer; ++o) {
      for (int32_t i = 0; i < size->count; ++i) {
        int32_t position = 0;
        for (int32_t axis = 0; axis < size->axes; ++axis) {
          const int32_t index = indices[(b * size->count + i) * size->axes + axis];
          position = position * size->extents[axis] + dmo_clamp(index, 0, size->extents[axis] - 1);
        }
        const int32_t from = ((b * size->outer + o) * positions + position) * size->run;
        for (int32_t e = 0; e < size->run; ++e) {
          dmo_copy_element(element_bytes, (const char *)input + (from + e) * element_bytes, to);
          to += element_bytes;
        }
      }
    }
  }
}
