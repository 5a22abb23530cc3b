// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Calls one function of the CMSIS-NN interface that the built-in hooks know, and others of its kind that they do not.
#include "arm_nnfunctions.h"

#include <stdint.h>

static int8_t data[64];
static int16_t wide[64];
static volatile int asked;

#define FUNCTION __attribute__((noinline, used))

FUNCTION void arm_nn_helper(int32_t i) {
  __asm__ volatile("");
  wide[i] = data[i];
}

FUNCTION void arm_gru_unidirectional_s8(void) {
  for (int32_t i = 0; i < 64; ++i) {
    arm_nn_helper(i);
  }
}

FUNCTION void arm_never_called_s8(void) { arm_nn_helper(0); }

FUNCTION int32_t arm_gru_unidirectional_s8_get_buffer_size(void) { return asked; }

FUNCTION void arm_quantize_s8(void) { asked = 2; }

int main(void) {
  asked = arm_gru_unidirectional_s8_get_buffer_size();
  arm_relu6_s8(data, sizeof data);
  arm_gru_unidirectional_s8();
  arm_gru_unidirectional_s8();
  arm_quantize_s8();
  if (asked == 1) {
    arm_never_called_s8();
  }
  arm_relu6_s8(data, sizeof data);
  return 0;
}
