// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_pitched.h"

void dmo_mul_pitched_f32(float activation_min, float activation_max, const dmo_shape *shape,
                         const dmo_pitch *input1_pitch, const float *input1,
                         const dmo_pitch *input2_pitch, const float *input2,
                         const dmo_pitch *output_pitch, float *output) {
  for (int32_t h = 0; h < shape->h; ++h) {
    for (int32_t w = 0; w < shape->w; ++w) {
      const float *from1 = input1 + dmo_pitched_offset(input1_pitch, h, w, 0);
      const float *from2 = input2 + dmo_pitched_offset(input2_pitch, h, w, 0);
      float *to = output + dmo_pitched_offset(output_pitch, h, w, 0);
      for (int32_t c = 0; c < shape->c; ++c) {
        to[c] = dmo_clamp_f32(from1[c] * from2[c], activation_min, activation_max);
      }
    }
  }
}
