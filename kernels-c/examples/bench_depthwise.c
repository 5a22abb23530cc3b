// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A layer of realistic size, to measure the tracer with: 8-bit depthwise convolution, 3x3, 112x112x32.
#include "dmo_conv.h"
#include "dmo_trace.h"
#include "example.h"

static const dmo_shape shape = { 1, 112, 112, 32 };
static const dmo_shape filter_shape = { 1, 3, 3, 32 };
static const dmo_conv2d_params params = {
  .geometry = { .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .pad_h = 1, .pad_w = 1 },
  .input_offset = 5,
  .output_offset = -3,
  .activation_min = -128,
  .activation_max = 127,
};
static const uint32_t expected_checksum = 0x39d5544e;

static int8_t input[112 * 112 * 32], output[112 * 112 * 32], filter[3 * 3 * 32];
static int32_t bias[32], multiplier[32], shift[32];

int main(void) {
  fill_s8(input, COUNT(input), 1);
  fill_s8(filter, COUNT(filter), 2);
  fill_bias(bias, COUNT(bias), 3);
  fill_multipliers(multiplier, COUNT(multiplier), 4);
  fill_shifts(shift, COUNT(shift), 5, -7);
  const dmo_quant_per_channel quant = { multiplier, shift };

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("bench_depthwise_s8", "depthwise_conv2d", buffers, COUNT(buffers));
  dmo_depthwise_conv2d_s8(&params, &quant, &shape, input, &filter_shape, filter, bias, &shape, output);
  dmo_layer_end();

  return check_checksum("bench_depthwise_s8", output, sizeof output, expected_checksum);
}
