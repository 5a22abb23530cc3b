// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_copy_element.h"
#include "dmo_move.h"

static int inside(int32_t position, int32_t extent) {
  return position >= 0 && position < extent;
}

void dmo_pad(const dmo_padding *before, const void *value, int32_t element_bytes,
             const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output) {
  char *to = output;
  for (int32_t on = 0; on < output_shape->n; ++on) {
    for (int32_t oh = 0; oh < output_shape->h; ++oh) {
      for (int32_t ow = 0; ow < output_shape->w; ++ow) {
        for (int32_t oc = 0; oc < output_shape->c; ++oc) {
          const int32_t n = on - before->n;
          const int32_t h = oh - before->h;
          const int32_t w = ow - before->w;
          const int32_t c = oc - before->c;
          const int copied = inside(n, input_shape->n) && inside(h, input_shape->h) && inside(w, input_shape->w) &&
                             inside(c, input_shape->c);
          const char *from =
              copied ? (const char *)input + dmo_offset(input_shape, n, h, w, c) * element_bytes : value;
          dmo_copy_element(element_bytes, from, to);
          to += element_bytes;
        }
      }
    }
  }
}
