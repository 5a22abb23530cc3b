// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A program as a tutorial has it: no linker script, no vector table, newlib's start-up code and console.
#include "dmo_trace.h"

#include <stdint.h>
#include <stdio.h>

static int8_t input[64], output[64];

int main(void) {
  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("copy", "copy", buffers, 2);
  for (int32_t i = 0; i < 64; ++i) {
    output[i] = input[i];
  }
  dmo_layer_end();
  printf("%d bytes\n", (int)sizeof output);
  return 0;
}
