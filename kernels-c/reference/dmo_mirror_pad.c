// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_copy_element.h"
#include "dmo_move.h"

// The input's coordinate for one of the output.
static int32_t mirrored(int32_t at, int32_t before, int32_t extent, int32_t reflect) {
  const int32_t inside = at - before;
  if (inside < 0) {
    return reflect - 1 - inside;
  }
  return inside < extent ? inside : 2 * extent - 1 - reflect - inside;
}

void dmo_mirror_pad(const dmo_mirror_pad_params *params, int32_t element_bytes,
                    const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output) {
  const int32_t *before = params->before;
  const int32_t reflect = params->reflect;
  char *to = output;
  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      for (int32_t w = 0; w < output_shape->w; ++w) {
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const int32_t from = dmo_offset(input_shape, mirrored(n, before[0], input_shape->n, reflect),
                                          mirrored(h, before[1], input_shape->h, reflect),
                                          mirrored(w, before[2], input_shape->w, reflect),
                                          mirrored(c, before[3], input_shape->c, reflect));
          dmo_copy_element(element_bytes, (const char *)input + from * element_bytes, to);
          to += element_bytes;
        }
      }
    }
  }
}
