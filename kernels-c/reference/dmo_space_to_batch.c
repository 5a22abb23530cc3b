// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_batch_offset.h"
#include "dmo_copy_element.h"

void dmo_space_to_batch(const dmo_batch_params *params, const void *value, int32_t element_bytes,
                        const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output) {
  char *to = output;
  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      for (int32_t w = 0; w < output_shape->w; ++w) {
        const int32_t pixel = dmo_batch_offset(params, input_shape, n, h, w);
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const char *from = pixel < 0 ? value : (const char *)input + (pixel + c) * element_bytes;
          dmo_copy_element(element_bytes, from, to);
          to += element_bytes;
        }
      }
    }
  }
}
