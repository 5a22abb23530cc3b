// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The same depthwise convolution twice: pixel by pixel, and channel by channel, which may store over its input.
#include "oracle.h"
#include "dmo_depthwise_in_place.h"
#include "dmo_trace.h"
#include "example.h"

enum { SIDE = 16, CHANNELS = 16, ELEMENTS = SIDE * SIDE * CHANNELS };

static int8_t input[ELEMENTS], output[ELEMENTS], filter[3 * 3 * CHANNELS], scratch[SIDE * SIDE];
static int32_t bias[CHANNELS], multiplier[CHANNELS], shift[CHANNELS];

static const dmo_shape shape = { 1, SIDE, SIDE, CHANNELS }, taps = { 1, 3, 3, CHANNELS };
static const dmo_conv2d_params params = {
  .geometry = { .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .pad_h = 1, .pad_w = 1 },
  .input_offset = 3,
  .output_offset = -1,
  .activation_min = -120,
  .activation_max = 127,
};
static const dmo_quant_per_channel quant = { multiplier, shift };

static const dmo_buffer buffers[] = {
  DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, ELEMENTS),
  DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, ELEMENTS),
  DMO_BUFFER("scratch", DMO_SCRATCH, DMO_INT8, scratch, SIDE * SIDE),
};

// Which element of the output is wrong; it is cleared for the next layer.
static int check(const char *name) {
  for (int32_t i = 0; i < ELEMENTS; ++i) {
    const int32_t expected = oracle_depthwise_conv2d_s8(&params, &quant, &shape, input, &taps, filter, bias, &shape, i);
    if (output[i] != expected) {
      return wrong_s32(name, i, expected, output[i]);
    }
    output[i] = 0;
  }
  return 0;
}

static int by_pixel(void) {
  fill_s8(input, ELEMENTS, 1);
  dmo_layer_begin("by_pixel", "depthwise_conv2d", buffers, COUNT(buffers) - 1);
  dmo_depthwise_conv2d_s8(&params, &quant, &shape, input, &taps, filter, bias, &shape, output);
  dmo_layer_end();
  return check("by_pixel");
}

static int by_channel(void) {
  fill_s8(input, ELEMENTS, 1);
  dmo_layer_begin("by_channel", "depthwise_in_place", buffers, COUNT(buffers));
  dmo_depthwise_conv2d_in_place_s8(&params, &quant, &shape, input, &taps, filter, bias, &shape, output, scratch);
  dmo_layer_end();
  return check("by_channel");
}

int main(void) {
  fill_s8(filter, dmo_shape_size(&taps), 2);
  fill_bias(bias, CHANNELS, 3);
  fill_multipliers(multiplier, CHANNELS, 4);
  fill_shifts(shift, CHANNELS, 5, -7);
  const int failed = by_pixel();
  return failed != 0 ? failed : by_channel();
}
