// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_copy_element.h"
#include "dmo_pitched.h"

static int inside(int32_t position, int32_t extent) {
  return position >= 0 && position < extent;
}

void dmo_pad_pitched(const dmo_padding *before, const void *value, int32_t element_bytes,
                     const dmo_shape *input_shape, const dmo_pitch *input_pitch, const void *input,
                     const dmo_shape *output_shape, const dmo_pitch *output_pitch, void *output) {
  for (int32_t oh = 0; oh < output_shape->h; ++oh) {
    for (int32_t ow = 0; ow < output_shape->w; ++ow) {
      for (int32_t oc = 0; oc < output_shape->c; ++oc) {
        const int32_t h = oh - before->h;
        const int32_t w = ow - before->w;
        const int32_t c = oc - before->c;
        const int copied = inside(h, input_shape->h) && inside(w, input_shape->w) && inside(c, input_shape->c);
        const char *from =
            copied ? (const char *)input + dmo_pitched_offset(input_pitch, h, w, c) * element_bytes : value;
        char *to = (char *)output + dmo_pitched_offset(output_pitch, oh, ow, oc) * element_bytes;
        dmo_copy_element(element_bytes, from, to);
      }
    }
  }
}
