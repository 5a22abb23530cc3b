// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A layer of realistic size, to measure the tracer with: 8-bit pointwise convolution, 56x56x32 -> 56x56x64.
#include "dmo_conv.h"
#include "dmo_trace.h"
#include "example.h"

static const dmo_shape input_shape = { 1, 56, 56, 32 };
static const dmo_shape filter_shape = { 64, 1, 1, 32 };
static const dmo_shape output_shape = { 1, 56, 56, 64 };
static const dmo_conv2d_params params = {
  .geometry = { .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 },
  .input_offset = 5,
  .output_offset = -3,
  .activation_min = -128,
  .activation_max = 127,
};
static const uint32_t expected_checksum = 0x1fe1cc49;

static int8_t input[56 * 56 * 32], output[56 * 56 * 64], filter[64 * 32];
static int32_t bias[64], multiplier[64], shift[64];

int main(void) {
  fill_s8(input, COUNT(input), 1);
  fill_s8(filter, COUNT(filter), 2);
  fill_bias(bias, COUNT(bias), 3);
  fill_multipliers(multiplier, COUNT(multiplier), 4);
  fill_shifts(shift, COUNT(shift), 5, -8);
  const dmo_quant_per_channel quant = { multiplier, shift };

  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("bench_conv2d_s8", "conv2d", buffers, COUNT(buffers));
  dmo_conv2d_s8(&params, &quant, &input_shape, input, &filter_shape, filter, bias, &output_shape, output);
  dmo_layer_end();

  return check_checksum("bench_conv2d_s8", output, sizeof output, expected_checksum);
}
