// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_copy_element.h"
#include "dmo_move.h"

void dmo_transpose(const dmo_transpose_params *params, int32_t element_bytes,
                   const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output) {
  // How far one step along an input axis is, and then along an output axis.
  const int32_t input_steps[] = { input_shape->h * input_shape->w * input_shape->c, input_shape->w * input_shape->c,
                                  input_shape->c, 1 };
  const int32_t steps[] = { input_steps[params->axes[0]], input_steps[params->axes[1]], input_steps[params->axes[2]],
                            input_steps[params->axes[3]] };
  char *to = output;
  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      for (int32_t w = 0; w < output_shape->w; ++w) {
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const int32_t from = n * steps[0] + h * steps[1] + w * steps[2] + c * steps[3];
          dmo_copy_element(element_bytes, (const char *)input + from * element_bytes, to);
          to += element_bytes;
        }
      }
    }
  }
}
