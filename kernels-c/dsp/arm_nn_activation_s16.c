// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp_sigmoid.h"

// Of an argument that may lie beyond the table.
static int32_t sigmoid_of_any(int32_t x) {
  const int32_t end = 255 * 512;
  return x >= end ? INT16_MAX : x <= -end ? 1 : dsp_sigmoid(x);
}

static void tanh_of_all(const dsp_steps *shared, const int16_t *input, int16_t *output, int32_t count) {
  const dsp_steps steps = *shared; // a copy, which a store to the output cannot change
  for (; count > 0; --count) {
    *output++ = (int16_t)dsp_tanh(dsp_in_steps(&steps, *input++));
  }
}

arm_cmsis_nn_status arm_nn_activation_s16(const int16_t *input, int16_t *output, const int32_t size,
                                          const int32_t left_shift, const arm_nn_activation_type type) {
  const dsp_steps steps = dsp_make_steps(left_shift);
  if (type != ARM_SIGMOID) {
    tanh_of_all(&steps, input, output, size);
  } else if (left_shift <= 0) {
    for (int32_t i = 0; i < size; ++i) {
      output[i] = (int16_t)dsp_sigmoid(dsp_in_steps(&steps, input[i]));
    }
  } else {
    for (int32_t i = 0; i < size; ++i) {
      output[i] = (int16_t)sigmoid_of_any(dsp_in_steps(&steps, input[i]));
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
