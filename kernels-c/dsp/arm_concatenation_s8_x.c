// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"

#include <string.h>

void arm_concatenation_s8_x(const int8_t *input, const uint16_t input_x, const uint16_t input_y,
                            const uint16_t input_z, const uint16_t input_w, int8_t *output, const uint16_t output_x,
                            const uint32_t offset_x) {
  const uint32_t unit = 1;
  const uint32_t count = unit * input_x;
  output += unit * offset_x;
  for (uint32_t i = 0; i < (uint32_t)input_y * input_z * input_w; ++i) {
    memcpy(output, input, count);
    input += count;
    output += unit * output_x;
  }
}
