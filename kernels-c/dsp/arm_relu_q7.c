// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp.h"

static uint32_t relu(uint32_t four) {
  return dsp_max4(four, 0);
}

void arm_relu_q7(int8_t *data, uint16_t size) {
  const int32_t whole = size & ~3;
  for (int32_t i = 0; i < whole; i += 4) {
    dsp_store4(&data[i], relu(dsp_load4(&data[i])));
  }
  if (whole < size) {
    const int32_t rest = size - whole;
    dsp_store_some(&data[whole], relu(dsp_load_some(&data[whole], rest)), rest);
  }
}
