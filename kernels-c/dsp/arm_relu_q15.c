// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp_wide.h"

void arm_relu_q15(int16_t *data, uint16_t size) {
  int32_t left = size;
  for (; left >= 4; left -= 4) {
    const uint32_t first = dsp_max_pair(dsp_load_pair(data), 0), second = dsp_max_pair(dsp_load_pair(data + 2), 0);
    dsp_store_pair(data, first);
    dsp_store_pair(data + 2, second);
    data += 4;
  }
  for (; left > 0; --left) {
    *data = *data < 0 ? 0 : *data;
    ++data;
  }
}
