// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Calls every function of the CMSIS-NN interface once, in marks that name its buffers. Functions of one kind have
// buffers of different sizes, so that none is taken for another. VERSION is 4 to 6 for an earlier interface.
#ifdef VERSION
#include "../vendor/versions.c"
#define UPSCALE_DIMS
#if VERSION < 6
#define ROW_SIZE(params, in, taps, out) arm_convolve_1_x_n_s8_get_buffer_size(in, taps)
#endif
#else
#include "arm_nnfunctions.h"
#define UPSCALE_DIMS NULL,
#endif
#ifndef ROW_SIZE
#define ROW_SIZE(params, in, taps, out) arm_convolve_1_x_n_s8_get_buffer_size(params, in, taps, out)
#endif
#include "dmo_trace.h"

#include <stddef.h>

static int8_t input[1024], other[1024], output[1024], state[256], weights[1024];
static int32_t bias[16], multiplier[64], shift[64];
static uint32_t scratch[512];
static int failures;

enum { IN_PLACE = -1 };

static void begin(const char *name, int32_t input_bytes, int32_t output_bytes, int32_t scratch_bytes) {
  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, input_bytes),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, output_bytes),
    DMO_BUFFER("scratch", DMO_SCRATCH, DMO_INT8, scratch, scratch_bytes),
  };
  const dmo_buffer in_place[] = { DMO_BUFFER("data", DMO_STATE, DMO_INT8, input, input_bytes) };
  if (output_bytes == IN_PLACE) {
    dmo_layer_begin(name, name, in_place, 1);
  } else {
    dmo_layer_begin(name, name, buffers, scratch_bytes > 0 ? 3 : 2);
  }
}

static void begin_binary(const char *name, int32_t bytes) {
  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, bytes),
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, other, bytes),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, bytes),
  };
  dmo_layer_begin(name, name, buffers, 3);
}

static void end(arm_cmsis_nn_status status) {
  dmo_layer_end();
  failures += status != ARM_CMSIS_NN_SUCCESS;
}

// Name of the function and its layer at once.
#define CALL(function, input_bytes, output_bytes, scratch_bytes, ...) \
  do {                                                                 \
    begin(#function, input_bytes, output_bytes, scratch_bytes);        \
    end(function(__VA_ARGS__));                                        \
  } while (0)
#define CALL_VOID(function, input_bytes, output_bytes, ...) \
  do {                                                      \
    begin(#function, input_bytes, output_bytes, 0);         \
    function(__VA_ARGS__);                                  \
    end(ARM_CMSIS_NN_SUCCESS);                              \
  } while (0)

static const cmsis_nn_per_channel_quant_params channels = { multiplier, shift };
static const cmsis_nn_per_tensor_quant_params tensor = { 1 << 30, -6 };
static const cmsis_nn_context no_scratch = { NULL, 0 };

static void convolutions(void) {
  const cmsis_nn_conv_params params = { 1, 2, { 1, 1 }, { 0, 0 }, { 1, 1 }, { -128, 127 } };
  const cmsis_nn_dims in = { 2, 3, 4, 5 }, taps = { 7, 1, 1, 5 }, out = { 2, 3, 4, 7 };
  cmsis_nn_context ctx = { scratch, arm_convolve_wrapper_s8_get_buffer_size(&params, &in, &taps, &out) };
  CALL(arm_convolve_wrapper_s8, 120, 168, ctx.size, &ctx, &params, &channels, &in, input, &taps, weights, &out, bias,
       &out, output);
  ctx.size = arm_convolve_1x1_s8_fast_get_buffer_size(&in);
  CALL(arm_convolve_1x1_s8_fast, 120, 168, ctx.size, &ctx, &params, &channels, &in, input, &taps, weights, &out, bias,
       &out, output);
  CALL(arm_convolve_1x1_s8, 120, 168, 0, &no_scratch, &params, &channels, &in, input, &taps, weights, &out, bias, &out,
       output);
  const cmsis_nn_dims square = { 3, 2, 2, 5 }, square_out = { 3, 1, 1, 3 };
  ctx.size = arm_convolve_s8_get_buffer_size(&in, &square);
  const cmsis_nn_dims square_in = { 3, 2, 2, 5 };
  CALL(arm_convolve_s8, 60, 9, ctx.size, &ctx, &params, &channels, &square_in, input, &square, weights, &square_out,
       bias, UPSCALE_DIMS &square_out, output);
  const cmsis_nn_dims row = { 1, 1, 9, 4 }, row_taps = { 2, 1, 3, 4 }, row_out = { 1, 1, 7, 2 };
  ctx.size = ROW_SIZE(&params, &row, &row_taps, &row_out);
  CALL(arm_convolve_1_x_n_s8, 36, 14, ctx.size, &ctx, &params, &channels, &row, input, &row_taps, weights, &row_out,
       bias, &row_out, output);
}

static void transposed_convolutions(void) {
  const cmsis_nn_transpose_conv_params params = { 1, 2, { 2, 2 }, { 0, 0 }, { 0, 0 }, { 1, 1 }, { -128, 127 } };
  const cmsis_nn_dims in = { 1, 3, 4, 5 }, taps = { 3, 2, 2, 5 }, out = { 1, 6, 8, 3 };
  const cmsis_nn_context ctx = { scratch, arm_transpose_conv_s8_get_buffer_size(&params, &in, &taps, &out) };
#define TRANSPOSED(function)                                                                                       \
  CALL(function, 60, 144, ctx.size, &ctx, &no_scratch, &params, &channels, &in, input, &taps, weights, &out, bias, \
       &out, output)
  TRANSPOSED(arm_transpose_conv_wrapper_s8);
  TRANSPOSED(arm_transpose_conv_s8);
}

static void depthwise_convolutions(void) {
  const cmsis_nn_dw_conv_params params = { 1, 2, 1, { 1, 1 }, { 0, 0 }, { 1, 1 }, { -128, 127 } };
  const cmsis_nn_dims in = { 2, 4, 5, 6 }, taps = { 1, 3, 3, 6 }, out = { 2, 2, 3, 6 };
#define DEPTHWISE(function) \
  CALL(function, 240, 72, 0, &no_scratch, &params, &channels, &in, input, &taps, weights, &out, bias, &out, output)
  DEPTHWISE(arm_depthwise_conv_wrapper_s8);
  DEPTHWISE(arm_depthwise_conv_s8);
  DEPTHWISE(arm_depthwise_conv_s8_opt);
  DEPTHWISE(arm_depthwise_conv_3x3_s8);
}

static void products(void) {
  const cmsis_nn_fc_params params = { 1, 0, 2, { -128, 127 } };
  const cmsis_nn_dims in = { 3, 1, 1, 11 }, taps = { 11, 1, 1, 6 }, out = { 3, 1, 1, 6 };
  CALL(arm_fully_connected_s8, 33, 18, 0, &no_scratch, &params, &tensor, &in, input, &taps, weights, &out, bias, &out,
       output);
  CALL(arm_fully_connected_per_channel_s8, 33, 18, 0, &no_scratch, &params, &channels, &in, input, &taps, weights, &out,
       bias, &out, output);
}

static void pools(void) {
  const cmsis_nn_pool_params params = { { 2, 2 }, { 0, 0 }, { -128, 127 } };
  const cmsis_nn_dims in = { 2, 6, 4, 5 }, window = { 1, 2, 2, 1 }, out = { 2, 3, 2, 5 };
  CALL(arm_max_pool_s8, 240, 60, 0, &no_scratch, &params, &in, input, &window, &out, output);
  CALL(arm_avgpool_s8, 240, 60, 0, &no_scratch, &params, &in, input, &window, &out, output);
}

static void elementwise(void) {
  CALL_VOID(arm_softmax_s8, 30, 30, input, 3, 10, 1 << 30, 23, -248, output);
  begin_binary("arm_elementwise_add_s8", 44);
  end(arm_elementwise_add_s8(input, other, 1, 1 << 30, 0, 2, 1 << 30, -1, 20, output, 3, 1 << 30, -18, -128, 127, 44));
  begin_binary("arm_elementwise_mul_s8", 46);
  end(arm_elementwise_mul_s8(input, other, 1, 2, output, 3, 1 << 30, -5, -128, 127, 46));
  CALL_VOID(arm_relu_q7, 50, IN_PLACE, input, 50);
  CALL_VOID(arm_relu6_s8, 52, IN_PLACE, input, 52);
}

static void moves(void) {
  CALL_VOID(arm_concatenation_s8_x, 120, 9 * 60, input, 2, 3, 4, 5, output, 9, 4);
  CALL_VOID(arm_concatenation_s8_y, 120, 8 * 40, input, 2, 3, 4, 5, output, 8, 4);
  CALL_VOID(arm_concatenation_s8_z, 120, 7 * 30, input, 2, 3, 4, 5, output, 7, 2);
  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, 120),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output + 2 * 24, 120),
  };
  dmo_layer_begin("arm_concatenation_s8_w", "concat", buffers, 2);
  arm_concatenation_s8_w(input, 2, 3, 4, 5, output, 2);
  end(ARM_CMSIS_NN_SUCCESS);
  CALL_VOID(arm_reshape_s8, 58, 58, input, output, 58);
  const cmsis_nn_dims in = { 1, 2, 3, 4 }, before = { 1, 0, 2, 1 }, behind = { 0, 3, 1, 1 };
  CALL(arm_pad_s8, 24, 2 * 5 * 6 * 6, 0, input, output, 7, &in, &before, &behind);
  const uint32_t order[] = { 1, 0, 3, 2 };
  const cmsis_nn_transpose_params all = { 4, order }, two = { 2, order };
  const cmsis_nn_dims from = { 2, 3, 4, 5 }, to = { 3, 2, 5, 4 };
  CALL(arm_transpose_s8, 120, 120, 0, input, output, &from, &to, &all);
  const cmsis_nn_dims matrix = { 6, 7, 0, -1 }, turned = { 7, 6, -1, 0 };
  CALL(arm_transpose_s8, 42, 42, 0, input, output, &matrix, &turned, &two);
}

static void svdf(void) {
  enum { BATCHES = 2, VALUES = 9, FILTERS = 8, RANK = 2, STEPS = 5 };
  const cmsis_nn_svdf_params params = { RANK, 1, 2, { -128, 127 }, { -128, 127 } };
  const cmsis_nn_dims in = { BATCHES, VALUES, 1, 1 }, states = { BATCHES, STEPS * FILTERS, 1, 1 };
  const cmsis_nn_dims feature = { FILTERS, VALUES, 1, 1 }, time = { FILTERS, STEPS, 1, 1 };
  const cmsis_nn_dims out = { BATCHES, FILTERS / RANK, 1, 1 };
  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, BATCHES * VALUES),
    DMO_BUFFER("state", DMO_STATE, DMO_INT8, state, BATCHES * FILTERS * STEPS),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, BATCHES * FILTERS / RANK),
  };
  dmo_layer_begin("arm_svdf_s8", "svdf", buffers, 3);
#if defined VERSION && VERSION == 4
  const cmsis_nn_context filters = { scratch, 4 * BATCHES * FILTERS };
  const cmsis_nn_context units = { scratch + BATCHES * FILTERS, 4 * BATCHES * FILTERS / RANK };
  end(arm_svdf_s8(&filters, &units, &params, &tensor, &tensor, &in, input, &states, state, &feature, weights, &time,
                  weights + 256, &out, bias, &out, output));
#else
  end(arm_svdf_s8(&no_scratch, &no_scratch, &no_scratch, &params, &tensor, &tensor, &in, input, &states, state,
                  &feature, weights, &time, weights + 256, &out, bias, &out, output));
#endif
}

int main(void) {
  for (int32_t i = 0; i < 1024; ++i) {
    input[i] = (int8_t)(i * 37 + 11);
    other[i] = (int8_t)(i * 91 + 5);
    weights[i] = (int8_t)(i * 53 + 29);
  }
  for (int32_t i = 0; i < 64; ++i) {
    multiplier[i] = 1 << 30;
    shift[i] = -6;
  }
  convolutions();
  transposed_convolutions();
  depthwise_convolutions();
  products();
  pools();
  elementwise();
  moves();
  svdf();
  return failures;
}
