// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One 8-bit convolution: 3x3, stride 2, SAME padding.
#include "oracle.h"
#include "dmo_conv.h"
#include "dmo_trace.h"
#include "example.h"

static const dmo_shape input_shape = { 1, 32, 32, 8 };
static const dmo_shape filter_shape = { 16, 3, 3, 8 };
static const dmo_shape output_shape = { 1, 16, 16, 16 };

// 16 outputs with stride 2 and 3 taps span 33 rows, the input has 32: of one row of padding, none goes above.
static const dmo_conv2d_params params = {
  .geometry = { .stride_h = 2, .stride_w = 2, .dilation_h = 1, .dilation_w = 1, .pad_h = 0, .pad_w = 0 },
  .input_offset = 5,
  .output_offset = -3,
  .activation_min = -128,
  .activation_max = 127,
};

static int8_t input[1 * 32 * 32 * 8];
static int8_t output[1 * 16 * 16 * 16];
static int8_t filter[16 * 3 * 3 * 8];
static int32_t bias[16], multiplier[16], shift[16];

int main(void) {
  fill_s8(input, COUNT(input), 1);
  fill_s8(filter, COUNT(filter), 2);
  fill_bias(bias, COUNT(bias), 3);
  fill_multipliers(multiplier, COUNT(multiplier), 4);
  fill_shifts(shift, COUNT(shift), 5, -9);
  const dmo_quant_per_channel quant = { multiplier, shift };

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("conv2d_s8", "conv2d", buffers, COUNT(buffers));
  dmo_conv2d_s8(&params, &quant, &input_shape, input, &filter_shape, filter, bias, &output_shape, output);
  dmo_layer_end();

  for (int32_t i = 0; i < (int32_t)sizeof output; ++i) {
    const int32_t expected = oracle_conv2d_s8(&params, &quant, &input_shape, input, &filter_shape, filter, bias,
                                              &output_shape, i);
    if (output[i] != expected) {
      return wrong_s32("conv2d_s8", i, expected, output[i]);
    }
  }
  return 0;
}
