// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The kernels with weights of 4 bits against the oracle of those of 8, on the weights unpacked.
#include "check.h"
#include "oracle_int4.h"

#include <stdlib.h>

enum { CASES = 3000 };

// Weights as the kernels take them, in no more bytes than they need, and as bytes.
typedef struct {
  uint8_t *packed;
  int8_t *weights;
} random_filter;

static random_filter random_weights(int32_t count) {
  const random_filter filter = { (uint8_t *)edgy_s8((count + 1) / 2), random_s8(count) };
  oracle_unpack_s4(filter.packed, count, filter.weights);
  return filter;
}

static dmo_conv2d_params random_params(void) {
  const int32_t min = random_between(-128, 127);
  return (dmo_conv2d_params){
    .geometry = { random_between(1, 3), random_between(1, 3), random_between(1, 3), random_between(1, 3),
                  random_between(0, 4), random_between(0, 4) },
    .input_offset = random_between(-128, 128),
    .output_offset = random_between(-128, 127),
    .activation_min = min,
    .activation_max = random_between(min, 127),
  };
}

static void conv2d(void) {
  const int32_t groups = random_between(1, 3), depth = random_between(1, 5);
  const int32_t filters = groups * random_between(1, 4);
  const dmo_shape in = { random_between(1, 2), random_between(1, 8), random_between(1, 8), groups * depth };
  const dmo_shape taps = { filters, random_between(1, 4), random_between(1, 4), depth };
  const dmo_shape out = { in.n, random_between(1, 6), random_between(1, 6), filters };
  const dmo_conv2d_params params = random_params();
  int32_t *multiplier = random_s32(filters, 1 << 30, INT32_MAX), *shift = random_s32(filters, -12, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };
  const random_filter filter = random_weights(dmo_shape_size(&taps));
  int8_t *input = edgy_s8(dmo_shape_size(&in)), *output = edgy_s8(dmo_shape_size(&out));
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(filters, -2000, 2000);

  dmo_conv2d_s4(&params, &quant, &in, input, &taps, filter.packed, bias, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) &&
         output[i] == oracle_conv2d_s8(&params, &quant, &in, input, &taps, filter.weights, bias, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "conv2d_s4", i);
  free(multiplier), free(shift), free(filter.packed), free(filter.weights), free(input), free(output), free(bias);
}

static void depthwise_conv2d(void) {
  const dmo_shape in = random_shape(2, 8, 8, 5);
  const int32_t channels = in.c * random_between(1, 3);
  const dmo_shape taps = { 1, random_between(1, 4), random_between(1, 4), channels };
  const dmo_shape out = { in.n, random_between(1, 6), random_between(1, 6), channels };
  const dmo_conv2d_params params = random_params();
  int32_t *multiplier = random_s32(channels, 1 << 30, INT32_MAX), *shift = random_s32(channels, -10, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };
  const random_filter filter = random_weights(dmo_shape_size(&taps));
  int8_t *input = edgy_s8(dmo_shape_size(&in)), *output = edgy_s8(dmo_shape_size(&out));
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(channels, -2000, 2000);

  dmo_depthwise_conv2d_s4(&params, &quant, &in, input, &taps, filter.packed, bias, &out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&out) &&
         output[i] == oracle_depthwise_conv2d_s8(&params, &quant, &in, input, &taps, filter.weights, bias, &out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&out), "depthwise_conv2d_s4", i);
  free(multiplier), free(shift), free(filter.packed), free(filter.weights), free(input), free(output), free(bias);
}

static void fully_connected(void) {
  const int32_t batches = random_between(1, 3), inputs = random_between(1, 40), outputs = random_between(1, 20);
  const dmo_fully_connected_params params = {
    .input_offset = random_between(-128, 128),
    .filter_offset = random_between(0, 3) == 0 ? random_between(-7, 8) : 0,
    .output_offset = random_between(-128, 127),
    .activation_min = random_between(-128, 0),
    .activation_max = random_between(0, 127),
  };
  const dmo_quant_per_tensor quant = { random_between(1 << 30, INT32_MAX), random_between(-12, 1) };
  const random_filter filter = random_weights(outputs * inputs);
  int8_t *input = edgy_s8(batches * inputs), *output = edgy_s8(batches * outputs);
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(outputs, -2000, 2000);

  dmo_fully_connected_s4(&params, &quant, batches, inputs, outputs, input, filter.packed, bias, output);
  int32_t i = 0;
  while (i < batches * outputs &&
         output[i] == oracle_fully_connected_s8(&params, &quant, inputs, outputs, input, filter.weights, bias, i)) {
    ++i;
  }
  CHECK(i == batches * outputs, "fully_connected_s4", i);
  free(filter.packed), free(filter.weights), free(input), free(output), free(bias);
}

void test_int4(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    conv2d();
    depthwise_conv2d();
    fully_connected();
  }
}
