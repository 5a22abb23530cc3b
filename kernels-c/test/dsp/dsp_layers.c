// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Marked layers, each by the reference kernel and by dsp/, to count their instructions and trace how far they overlap.
// They run one after the other; the two outputs of a layer must agree.
#include "arm_nnfunctions.h"
#include "dmo_conv.h"
#include "dmo_elementwise.h"
#include "dmo_matmul.h"
#include "dmo_pool.h"
#include "dmo_trace.h"
#include "example.h"

#include <stddef.h>

enum { MAX_BYTES = 64 * 64 * 16, MAX_WEIGHTS = 64 * 1024, MAX_CHANNELS = 64, SCRATCH_BYTES = 16384 };

static int8_t input[MAX_BYTES], expected[MAX_BYTES], output[MAX_BYTES], filter[MAX_WEIGHTS];
static int32_t bias[MAX_CHANNELS], multiplier[MAX_CHANNELS], shift[MAX_CHANNELS];
static uint32_t scratch[SCRATCH_BYTES / sizeof(uint32_t)];

static const dmo_quant_per_channel reference_quant = { multiplier, shift };
static const cmsis_nn_per_channel_quant_params quant = { multiplier, shift };

static void begin(const char *name, const char *op, int32_t input_bytes, int8_t *out, int32_t output_bytes,
                  int32_t scratch_bytes) {
  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, input_bytes),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, out, output_bytes),
    DMO_BUFFER("scratch", DMO_SCRATCH, DMO_INT8, scratch, scratch_bytes),
  };
  dmo_layer_begin(name, op, buffers, scratch_bytes > 0 ? 3 : 2);
}

static int same(const char *name, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (output[i] != expected[i]) {
      return wrong_s32(name, i, expected[i], output[i]);
    }
  }
  return 0;
}

static int convolution(const char *reference_name, const char *name, const cmsis_nn_dims *in,
                       const cmsis_nn_dims *taps, const cmsis_nn_dims *out, int32_t stride, int32_t pad) {
  const dmo_shape in_shape = { in->n, in->h, in->w, in->c };
  const dmo_shape taps_shape = { taps->n, taps->h, taps->w, taps->c };
  const dmo_shape out_shape = { out->n, out->h, out->w, out->c };
  const int32_t in_bytes = dmo_shape_size(&in_shape), out_bytes = dmo_shape_size(&out_shape);
  const dmo_conv2d_params reference = { { stride, stride, 1, 1, pad, pad }, 3, -128, -128, 127 };
  const cmsis_nn_conv_params params = { 3, -128, { stride, stride }, { pad, pad }, { 1, 1 }, { -128, 127 } };
  begin(reference_name, "conv2d", in_bytes, expected, out_bytes, 0);
  dmo_conv2d_s8(&reference, &reference_quant, &in_shape, input, &taps_shape, filter, bias, &out_shape, expected);
  dmo_layer_end();
  const cmsis_nn_context ctx = { scratch, arm_convolve_wrapper_s8_get_buffer_size(&params, in, taps, out) };
  begin(name, "conv2d", in_bytes, output, out_bytes, ctx.size);
  arm_convolve_wrapper_s8(&ctx, &params, &quant, in, input, taps, filter, out, bias, out, output);
  dmo_layer_end();
  return same(name, out_bytes);
}

static int depthwise(void) {
  const cmsis_nn_dims in = { 1, 64, 64, 16 }, taps = { 1, 3, 3, 16 };
  const dmo_shape in_shape = { 1, 64, 64, 16 }, taps_shape = { 1, 3, 3, 16 };
  const int32_t bytes = dmo_shape_size(&in_shape);
  const dmo_conv2d_params reference = { { 1, 1, 1, 1, 1, 1 }, 3, -128, -128, 127 };
  const cmsis_nn_dw_conv_params params = { 3, -128, 1, { 1, 1 }, { 1, 1 }, { 1, 1 }, { -128, 127 } };
  begin("depthwise_reference", "depthwise_conv2d", bytes, expected, bytes, 0);
  dmo_depthwise_conv2d_s8(&reference, &reference_quant, &in_shape, input, &taps_shape, filter, bias, &in_shape,
                          expected);
  dmo_layer_end();
  const cmsis_nn_context ctx = { scratch, arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, &in, &taps, &in) };
  begin("depthwise_dsp", "depthwise_conv2d", bytes, output, bytes, ctx.size);
  arm_depthwise_conv_wrapper_s8(&ctx, &params, &quant, &in, input, &taps, filter, &in, bias, &in, output);
  dmo_layer_end();
  return same("depthwise_dsp", bytes);
}

static int fully_connected(void) {
  const cmsis_nn_dims in = { 1, 1, 1, 256 }, taps = { 256, 1, 1, 64 }, out = { 1, 1, 1, 64 };
  const dmo_fully_connected_params reference = { 3, 0, -128, -128, 127 };
  const cmsis_nn_fc_params params = { 3, 0, -128, { -128, 127 } };
  const dmo_quant_per_tensor reference_tensor = { multiplier[0], -9 };
  const cmsis_nn_per_tensor_quant_params tensor = { multiplier[0], -9 };
  begin("fully_connected_reference", "fully_connected", 256, expected, 64, 0);
  dmo_fully_connected_s8(&reference, &reference_tensor, 1, 256, 64, input, filter, bias, expected);
  dmo_layer_end();
  const cmsis_nn_context ctx = { NULL, 0 };
  begin("fully_connected_dsp", "fully_connected", 256, output, 64, 0);
  arm_fully_connected_s8(&ctx, &params, &tensor, &in, input, &taps, filter, &out, bias, &out, output);
  dmo_layer_end();
  return same("fully_connected_dsp", 64);
}

static int pooling(void) {
  const cmsis_nn_dims in = { 1, 32, 32, 16 }, window = { 1, 2, 2, 1 }, out = { 1, 16, 16, 16 };
  const dmo_shape in_shape = { 1, 32, 32, 16 }, out_shape = { 1, 16, 16, 16 };
  const int32_t in_bytes = dmo_shape_size(&in_shape), out_bytes = dmo_shape_size(&out_shape);
  const dmo_pool_params reference = { { 2, 2, 2, 2, 0, 0 }, -128, 127 };
  const cmsis_nn_pool_params params = { { 2, 2 }, { 0, 0 }, { -128, 127 } };
  const cmsis_nn_context ctx = { NULL, 0 };
  begin("max_pool_reference", "max_pool", in_bytes, expected, out_bytes, 0);
  dmo_max_pool_s8(&reference, &in_shape, input, &out_shape, expected);
  dmo_layer_end();
  begin("max_pool_dsp", "max_pool", in_bytes, output, out_bytes, 0);
  arm_max_pool_s8(&ctx, &params, &in, input, &window, &out, output);
  dmo_layer_end();
  if (same("max_pool_dsp", out_bytes) != 0) {
    return 1;
  }
  begin("avg_pool_reference", "avg_pool", in_bytes, expected, out_bytes, 0);
  dmo_avg_pool_s8(&reference, &in_shape, input, &out_shape, expected);
  dmo_layer_end();
  begin("avg_pool_dsp", "avg_pool", in_bytes, output, out_bytes, 0);
  arm_avgpool_s8(&ctx, &params, &in, input, &window, &out, output);
  dmo_layer_end();
  return same("avg_pool_dsp", out_bytes);
}

static int addition(void) {
  enum { ELEMENTS = 4096 };
  const int8_t *const other = input + ELEMENTS;
  const dmo_add_params params = { 3, -5, -1, { 1 << 30, 0 }, { 1518500250, -1 }, { 1 << 30, -18 }, -128, 127 };
  begin("add_reference", "add", ELEMENTS, expected, ELEMENTS, 0);
  dmo_add_s8(&params, ELEMENTS, input, other, expected);
  dmo_layer_end();
  begin("add_dsp", "add", ELEMENTS, output, ELEMENTS, 0);
  arm_elementwise_add_s8(input, other, 3, 1 << 30, 0, -5, 1518500250, -1, DMO_ADD_LEFT_SHIFT, output, -1, 1 << 30, -18,
                         -128, 127, ELEMENTS);
  dmo_layer_end();
  return same("add_dsp", ELEMENTS);
}

int main(void) {
  fill_s8(input, COUNT(input), 1);
  fill_s8(filter, COUNT(filter), 2);
  fill_bias(bias, COUNT(bias), 3);
  fill_multipliers(multiplier, COUNT(multiplier), 4);
  fill_shifts(shift, COUNT(shift), 5, -8);
  const cmsis_nn_dims wide = { 1, 64, 64, 8 }, pointwise = { 16, 1, 1, 8 }, wide_out = { 1, 64, 64, 16 };
  const cmsis_nn_dims deep = { 1, 16, 16, 64 }, pointwise_deep = { 64, 1, 1, 64 };
  const cmsis_nn_dims conv_in = { 1, 32, 32, 8 }, conv_taps = { 16, 3, 3, 8 }, conv_out = { 1, 32, 32, 16 };
  const cmsis_nn_dims first_in = { 1, 64, 64, 3 }, first_taps = { 8, 3, 3, 3 }, first_out = { 1, 32, 32, 8 };
  return convolution("pointwise_reference", "pointwise_dsp", &wide, &pointwise, &wide_out, 1, 0) ||
         convolution("pointwise_deep_reference", "pointwise_deep_dsp", &deep, &pointwise_deep, &deep, 1, 0) ||
         convolution("conv2d_reference", "conv2d_dsp", &conv_in, &conv_taps, &conv_out, 1, 1) ||
         convolution("conv2d_first_reference", "conv2d_first_dsp", &first_in, &first_taps, &first_out, 2, 0) ||
         depthwise() || fully_connected() || pooling() || addition();
}
