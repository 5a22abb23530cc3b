// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_unary.h"

void dmo_dequantize_u8_f32(const dmo_affine_params *params, int32_t count, const uint8_t *input, float *output) {
  for (int32_t i = 0; i < count; ++i) {
    output[i] = params->scale * (float)(input[i] - params->zero_point);
  }
}
