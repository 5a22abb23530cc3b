// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_batch_offset.h"
#include "dmo_copy_element.h"

void dmo_batch_to_space(const dmo_batch_params *params, int32_t element_bytes,
                        const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output) {
  for (int32_t n = 0; n < input_shape->n; ++n) {
    for (int32_t h = 0; h < input_shape->h; ++h) {
      for (int32_t w = 0; w < input_shape->w; ++w) {
        const int32_t pixel = dmo_batch_offset(params, output_shape, n, h, w);
        for (int32_t c = 0; pixel >= 0 && c < input_shape->c; ++c) {
          const int32_t from = dmo_offset(input_shape, n, h, w, c);
          dmo_copy_element(element_bytes, (const char *)input + from * element_bytes,
                           (char *)output + (pixel + c) * element_bytes);
        }
      }
    }
  }
}
