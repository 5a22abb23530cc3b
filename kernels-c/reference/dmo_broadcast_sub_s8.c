// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_offset.h"

void dmo_broadcast_sub_s8(const dmo_add_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                          const dmo_shape *input2_shape, const int8_t *input2,
                          const dmo_shape *output_shape, int8_t *output) {
  const int32_t unit = INT32_C(1) << DMO_ADD_LEFT_SHIFT;

  for (int32_t n = 0; n < output_shape->n; ++n) {
    for (int32_t h = 0; h < output_shape->h; ++h) {
      for (int32_t w = 0; w < output_shape->w; ++w) {
        for (int32_t c = 0; c < output_shape->c; ++c) {
          const int32_t value1 = input1[dmo_broadcast_offset(input1_shape, n, h, w, c)] + params->input1_offset;
          const int32_t value2 = input2[dmo_broadcast_offset(input2_shape, n, h, w, c)] + params->input2_offset;
          const int32_t scaled1 = dmo_requantize(value1 * unit, params->input1.multiplier, params->input1.shift);
          const int32_t scaled2 = dmo_requantize(value2 * unit, params->input2.multiplier, params->input2.shift);
          const int32_t difference = dmo_requantize(scaled1 - scaled2, params->output.multiplier, params->output.shift);
          output[dmo_offset(output_shape, n, h, w, c)] =
              (int8_t)dmo_clamp(difference + params->output_offset, params->activation_min, params->activation_max);
        }
      }
    }
  }
}
