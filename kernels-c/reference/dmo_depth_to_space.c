// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_block_offset.h"
#include "dmo_copy_element.h"

void dmo_depth_to_space(const dmo_block_params *block, int32_t element_bytes,
                        const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output) {
  int32_t at = 0;
  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      for (int32_t w = 0; w < output_shape->w; ++w) {
        for (int32_t c = 0; c < output_shape->c; ++c, ++at) {
          const int32_t deep = dmo_block_offset(block, input_shape, n, h, w, c);
          dmo_copy_element(element_bytes, (const char *)input + deep * element_bytes, (char *)output + at * element_bytes);
        }
      }
    }
  }
}
