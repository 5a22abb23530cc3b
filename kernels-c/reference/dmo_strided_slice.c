// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_copy_element.h"
#include "dmo_move.h"

void dmo_strided_slice(const dmo_strided_slice_params *params, int32_t element_bytes,
                       const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output) {
  const int32_t *begin = params->begin;
  const int32_t *stride = params->stride;
  char *to = output;
  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      for (int32_t w = 0; w < output_shape->w; ++w) {
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const int32_t from = dmo_offset(input_shape, begin[0] + n * stride[0], begin[1] + h * stride[1],
                                          begin[2] + w * stride[2], begin[3] + c * stride[3]);
          dmo_copy_element(element_bytes, (const char *)input + from * element_bytes, to);
          to += element_bytes;
        }
      }
    }
  }
}
