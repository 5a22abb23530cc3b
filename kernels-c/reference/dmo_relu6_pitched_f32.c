// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_pitched.h"

void dmo_relu6_pitched_f32(const dmo_shape *shape,
                           const dmo_pitch *input_pitch, const float *input,
                           const dmo_pitch *output_pitch, float *output) {
  for (int32_t h = 0; h < shape->h; ++h) {
    for (int32_t w = 0; w < shape->w; ++w) {
      const float *from = input + dmo_pitched_offset(input_pitch, h, w, 0);
      float *to = output + dmo_pitched_offset(output_pitch, h, w, 0);
      for (int32_t c = 0; c < shape->c; ++c) {
        to[c] = dmo_clamp_f32(from[c], 0.0f, 6.0f);
      }
    }
  }
}
