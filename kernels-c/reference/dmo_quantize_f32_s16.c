// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

#include <math.h>

void dmo_quantize_f32_s16(const dmo_affine_params *params, int32_t count, const float *input, int16_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t value = dmo_wrapping_add(dmo_whole(roundf(input[i] / params->scale)), params->zero_point);
    output[i] = (int16_t)dmo_clamp(value, INT16_MIN, INT16_MAX);
  }
}
