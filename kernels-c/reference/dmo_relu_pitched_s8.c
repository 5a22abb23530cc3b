// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_pitched.h"

void dmo_relu_pitched_s8(const dmo_relu_params *params, const dmo_shape *shape,
                         const dmo_pitch *input_pitch, const int8_t *input,
                         const dmo_pitch *output_pitch, int8_t *output) {
  for (int32_t h = 0; h < shape->h; ++h) {
    for (int32_t w = 0; w < shape->w; ++w) {
      const int8_t *from = input + dmo_pitched_offset(input_pitch, h, w, 0);
      int8_t *to = output + dmo_pitched_offset(output_pitch, h, w, 0);
      for (int32_t c = 0; c < shape->c; ++c) {
        const int32_t value = dmo_requantize(from[c] + params->input_offset, params->output.multiplier,
                                             params->output.shift) + params->output_offset;
        to[c] = (int8_t)dmo_clamp(value, params->activation_min, params->activation_max);
      }
    }
  }
}
