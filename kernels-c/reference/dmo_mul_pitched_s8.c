// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_pitched.h"

void dmo_mul_pitched_s8(const dmo_mul_params *params, const dmo_shape *shape,
                        const dmo_pitch *input1_pitch, const int8_t *input1,
                        const dmo_pitch *input2_pitch, const int8_t *input2,
                        const dmo_pitch *output_pitch, int8_t *output) {
  for (int32_t h = 0; h < shape->h; ++h) {
    for (int32_t w = 0; w < shape->w; ++w) {
      const int8_t *from1 = input1 + dmo_pitched_offset(input1_pitch, h, w, 0);
      const int8_t *from2 = input2 + dmo_pitched_offset(input2_pitch, h, w, 0);
      int8_t *to = output + dmo_pitched_offset(output_pitch, h, w, 0);
      for (int32_t c = 0; c < shape->c; ++c) {
        const int32_t product = (from1[c] + params->input1_offset) * (from2[c] + params->input2_offset);
        const int32_t value = dmo_requantize(product, params->output.multiplier, params->output.shift);
        to[c] = (int8_t)dmo_clamp(value + params->output_offset, params->activation_min, params->activation_max);
      }
    }
  }
}
