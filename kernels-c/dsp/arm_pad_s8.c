// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp.h"

#include <string.h>

#if DSP_INSTRUCTIONS

static inline void store16(int8_t *output, uint32_t word) {
  dsp_store4(output, word);
  dsp_store4(output + 4, word);
  dsp_store4(output + 8, word);
  dsp_store4(output + 12, word);
}

// By words, the last of which may take some bytes once more.
static int8_t *fill(int8_t *output, int8_t value, int32_t count) {
  if (count < 4) {
    for (int32_t i = 0; i < count; ++i) {
      *output++ = value;
    }
    return output;
  }
  const uint32_t word = dsp_pack4(value, value, value, value);
  int8_t *const end = output + count;
  while (end - output >= 32) {
    store16(output, word);
    store16(output + 16, word);
    output += 32;
  }
  while (end - output >= 4) {
    dsp_store4(output, word);
    output += 4;
  }
  dsp_store4(end - 4, word);
  return end;
}

#else

// By the C library: not every core of plain stores words at any address.
static int8_t *fill(int8_t *output, int8_t value, int32_t count) {
  memset(output, value, (size_t)count);
  return output + count;
}

#endif

arm_cmsis_nn_status arm_pad_s8(const int8_t *input, int8_t *output, const int8_t pad_value,
                               const cmsis_nn_dims *input_size, const cmsis_nn_dims *pre_pad,
                               const cmsis_nn_dims *post_pad) {
  const int32_t c = pre_pad->c + input_size->c + post_pad->c;
  const int32_t w = (pre_pad->w + input_size->w + post_pad->w) * c;
  const int32_t h = (pre_pad->h + input_size->h + post_pad->h) * w;
  // Runs of the input that are contiguous in the output: one a row, or one a pixel.
  const int joined = pre_pad->c == 0 && post_pad->c == 0;
  const int32_t runs = joined ? 1 : input_size->w;
  const int32_t run = joined ? input_size->w * input_size->c : input_size->c;

  output = fill(output, pad_value, pre_pad->n * h);
  for (int32_t n = 0; n < input_size->n; ++n) {
    output = fill(output, pad_value, pre_pad->h * w);
    for (int32_t y = 0; y < input_size->h; ++y) {
      output = fill(output, pad_value, pre_pad->w * c);
      for (int32_t i = 0; i < runs; ++i) {
        output = fill(output, pad_value, pre_pad->c);
        memcpy(output, input, (size_t)run);
        output = fill(output + run, pad_value, post_pad->c);
        input += run;
      }
      output = fill(output, pad_value, post_pad->w * c);
    }
    output = fill(output, pad_value, post_pad->h * w);
  }
  fill(output, pad_value, post_pad->n * h);
  return ARM_CMSIS_NN_SUCCESS;
}
