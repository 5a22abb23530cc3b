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
    .geometry = random_conv_geometry(),
    .input_offset = random_between(-128, 128),
    .output_offset = random_between(-128, 127),
    .activation_min = min,
    .activation_max = random_between(min, 127),
  };
}

typedef __typeof__(dmo_conv2d_s4) conv_kernel;
typedef __typeof__(oracle_conv2d_s8) conv_oracle;

static void convolution(const char *what, conv_shapes s, conv_kernel *kernel, conv_oracle *oracle) {
  const dmo_conv2d_params params = random_params();
  int32_t *multiplier = random_s32(s.out.c, 1 << 30, INT32_MAX), *shift = random_s32(s.out.c, -12, 1);
  const dmo_quant_per_channel quant = { multiplier, shift };
  const random_filter filter = random_weights(dmo_shape_size(&s.taps));
  int8_t *input = edgy_s8(dmo_shape_size(&s.in)), *output = edgy_s8(dmo_shape_size(&s.out));
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(s.out.c, -2000, 2000);

  kernel(&params, &quant, &s.in, input, &s.taps, filter.packed, bias, &s.out, output);
  int32_t i = 0;
  while (i < dmo_shape_size(&s.out) &&
         output[i] == oracle(&params, &quant, &s.in, input, &s.taps, filter.weights, bias, &s.out, i)) {
    ++i;
  }
  CHECK(i == dmo_shape_size(&s.out), what, i);
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
    convolution("conv2d_s4", random_conv_shapes(), dmo_conv2d_s4, oracle_conv2d_s8);
    convolution("depthwise_conv2d_s4", random_depthwise_shapes(), dmo_depthwise_conv2d_s4,
                oracle_depthwise_conv2d_s8);
    fully_connected();
  }
}
