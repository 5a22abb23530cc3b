// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The functions of dsp/ and plain/ with weights of 4 bits, as dsp_test.c those with 8: random small cases compared with
// the reference kernels, apart and overlapped as far as the interface's header says.
#include "dsp_cases.h"
#include "dmo_int4.h"

#ifndef CASES
#define CASES 1500
#endif

// In no more bytes than they need.
static int8_t *packed_weights(int32_t count) {
  int8_t *const packed = values((count + 1) / 2);
  if (one_in(10)) {
    memset(packed, one_in(2) ? 0x88 : 0x77, (size_t)(count + 1) / 2); // the largest sums
  }
  return packed;
}

static const uint8_t *of_reference(const int8_t *packed) {
  return (const uint8_t *)packed;
}

static void check_scratch(int32_t bytes, int32_t most) {
  if (bytes > most) {
    fail("more scratch than the header says", (uint32_t)bytes);
  }
}

static int32_t conv_scratch_bytes(convolution function, const conv_case *c) {
  const layer_geometry *const g = &c->g;
  switch (function) {
  case WRAPPER:
    // As TensorFlow Lite Micro asks.
    return arm_convolve_wrapper_s8_get_buffer_size(&c->params, &g->in, &g->taps, &g->out);
  case POINTWISE_FAST:
    return arm_convolve_1x1_s4_fast_get_buffer_size(&g->in);
  case POINTWISE:
    return 0;
  case ONE_ROW:
    return arm_convolve_1_x_n_s4_get_buffer_size(&c->params, &g->in, &g->taps, &g->out);
  default:
    return arm_convolve_s4_get_buffer_size(&g->in, &g->taps);
  }
}

typedef arm_cmsis_nn_status conv_function(const cmsis_nn_context *, const cmsis_nn_conv_params *,
                                          const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *,
                                          const int8_t *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *,
                                          const int32_t *, const cmsis_nn_dims *, int8_t *);

static void run_conv(convolution function, const conv_case *c, const int8_t *input, int8_t *output) {
  static conv_function *const functions[] = { arm_convolve_s4,     arm_convolve_wrapper_s4, arm_convolve_1x1_s4_fast,
                                              arm_convolve_1x1_s4, arm_convolve_1_x_n_s4,   arm_convolve_even_s4 };
  const layer_geometry *const g = &c->g;
  const int32_t columns = g->taps.h * g->taps.w * g->taps.c;
  const cmsis_nn_context ctx = scratch(conv_scratch_bytes(function, c));
  check_scratch(ctx.size, (PLAIN ? 2 : 8 + (g->taps.c % 4 != 0 && columns != g->taps.c)) * ((columns + 3) & ~3));
  const cmsis_nn_dims bias_dims = { 1, 1, 1, g->out.c }, taps = given_taps(function, g);
  expect_status(ARM_CMSIS_NN_SUCCESS, functions[function](&ctx, &c->params, &c->quant, &g->in, input, &taps,
                                                          c->filter, &bias_dims, c->bias, &g->out, output));
}

static void test_convolution(convolution function) {
  static const char *const names[] = { "arm_convolve_s4",     "arm_convolve_wrapper_s4", "arm_convolve_1x1_s4_fast",
                                       "arm_convolve_1x1_s4", "arm_convolve_1_x_n_s4",   "arm_convolve_even_s4" };
  what = names[function];
  conv_case c = random_convolution(function);
  const layer_geometry *const g = &c.g;
  c.filter = packed_weights(size_of(&g->taps));
  const int8_t *const input = values(size_of(&g->in));
  int8_t *const expected = allocate(size_of(&g->out));
  int8_t *const actual = values(size_of(&g->out));

  const dmo_conv2d_params params =
      reference_params(g, c.params.input_offset, c.params.output_offset, c.params.activation);
  const dmo_quant_per_channel quant = { c.quant.multiplier, c.quant.shift };
  const dmo_shape in = shape_of(&g->in), taps = shape_of(&g->taps), out = shape_of(&g->out);
  dmo_conv2d_s4(&params, &quant, &in, input, &taps, of_reference(c.filter), c.bias, &out, expected);
  run_conv(function, &c, input, actual);
  compare("wrong at", expected, actual, size_of(&g->out));

  if (c.groups == 1) {
    const int32_t s = convolution_displacement(function, g);
    int8_t *const memory = overlap(input, size_of(&g->in), size_of(&g->out), s);
    run_conv(function, &c, memory + s, memory);
    compare("wrong when overlapped at", expected, memory, size_of(&g->out));
  }
  end_case();
}

typedef enum { DEPTHWISE, DEPTHWISE_OPT, DEPTHWISE_WRAPPER } depthwise;

static void run_depthwise(depthwise function, const layer_geometry *g, const cmsis_nn_dw_conv_params *params,
                          const cmsis_nn_per_channel_quant_params *quant, const int8_t *input, const int8_t *filter,
                          const int32_t *bias, int8_t *output) {
  const cmsis_nn_dims bias_dims = { 1, 1, 1, g->out.c };
  const cmsis_nn_dw_conv_params known = known_when_asked(params);
  const int32_t bytes =
      function == DEPTHWISE_OPT       ? arm_depthwise_conv_s4_opt_get_buffer_size(&g->in, &g->taps)
      : function == DEPTHWISE_WRAPPER ? arm_depthwise_conv_wrapper_s4_get_buffer_size(&known, &g->in, &g->taps, &g->out)
                                      : 0;
  check_scratch(bytes, size_of(&g->taps));
  const cmsis_nn_context ctx = scratch(bytes);
  expect_status(ARM_CMSIS_NN_SUCCESS, (function == DEPTHWISE       ? arm_depthwise_conv_s4
                                       : function == DEPTHWISE_OPT ? arm_depthwise_conv_s4_opt
                                                                   : arm_depthwise_conv_wrapper_s4)(
                                          &ctx, params, quant, &g->in, input, &g->taps, filter, &bias_dims, bias,
                                          &g->out, output));
}

static void test_depthwise(depthwise function) {
  static const char *const names[] = { "arm_depthwise_conv_s4", "arm_depthwise_conv_s4_opt",
                                       "arm_depthwise_conv_wrapper_s4" };
  what = names[function];
  layer_geometry g = random_geometry();
  int32_t multiplier = 1;
  if (function != DEPTHWISE_OPT && one_in(2)) {
    multiplier = between(1, 9);
    g.in.c = between(1, 6);
  }
  if (one_in(2)) {
    g.taps.h = g.taps.w = 3;
  }
  if (one_in(2)) {
    g.in.n = g.out.n = 1;
    g.dilation = (cmsis_nn_tile){ 1, 1 };
  }
  g.out.c = g.in.c * multiplier;
  g.taps.n = 1;
  g.taps.c = g.out.c;
  const cmsis_nn_dw_conv_params params = { .input_offset = between(-127, 128), .output_offset = between(-128, 127),
                                           .ch_mult = multiplier, .stride = g.stride, .padding = g.padding,
                                           .dilation = g.dilation, .activation = random_activation() };
  int32_t *bias;
  const cmsis_nn_per_channel_quant_params quant = random_quant(g.out.c, &bias);
  const int8_t *const filter = packed_weights(size_of(&g.taps));
  const int8_t *const input = values(size_of(&g.in));
  int8_t *const expected = allocate(size_of(&g.out));
  int8_t *const actual = values(size_of(&g.out));
  const dmo_conv2d_params reference =
      reference_params(&g, params.input_offset, params.output_offset, params.activation);
  const dmo_quant_per_channel reference_quant = { quant.multiplier, quant.shift };
  const dmo_shape in = shape_of(&g.in), taps = shape_of(&g.taps), out = shape_of(&g.out);
  dmo_depthwise_conv2d_s4(&reference, &reference_quant, &in, input, &taps, of_reference(filter), bias, &out, expected);
  run_depthwise(function, &g, &params, &quant, input, filter, bias, actual);
  compare("wrong at", expected, actual, size_of(&g.out));

  // The reference kernel's displacement: an input channel's last output lies C * (M - 1) behind where it is.
  const int32_t s = displacement(&g, 1, g.out.c - g.in.c);
  int8_t *const memory = overlap(input, size_of(&g.in), size_of(&g.out), s);
  run_depthwise(function, &g, &params, &quant, memory + s, filter, bias, memory);
  compare("wrong when overlapped at", expected, memory, size_of(&g.out));
  end_case();
}

static void test_fully_connected(void) {
  what = "arm_fully_connected_s4";
  const int32_t batches = between(1, 3), outputs = between(1, 20);
  const int32_t inputs = one_in(12) ? between(100, 400) : between(1, 40);
  const cmsis_nn_fc_params params = { .input_offset = between(-127, 128),
                                      .filter_offset = one_in(4) ? between(-7, 8) : 0,
                                      .output_offset = between(-128, 127), .activation = random_activation() };
  const int32_t multiplier = one_in(20) ? 0 : between(1 << 30, INT32_MAX), shift = between(-14, 1);
  const bool at_limit = one_in(8);
  const int32_t limit = one_in(2) ? 1 << 30 : -(1 << 30);
  const int32_t *const bias = at_limit    ? numbers(outputs, limit - 100000, limit + 100000)
                              : one_in(5) ? NULL
                                          : numbers(outputs, -50000, 50000);
  const int8_t *const filter = packed_weights(inputs * outputs), *const input = values(batches * inputs);
  int8_t *const expected = allocate(batches * outputs);
  const dmo_fully_connected_params reference = { params.input_offset, params.filter_offset, params.output_offset,
                                                 params.activation.min, params.activation.max };
  const dmo_quant_per_tensor reference_quant = { multiplier, shift };
  dmo_fully_connected_s4(&reference, &reference_quant, batches, inputs, outputs, input, of_reference(filter), bias,
                         expected);

  const cmsis_nn_per_tensor_quant_params quant = { multiplier, shift };
  const cmsis_nn_dims in = { batches, 1, 1, inputs }, taps = { inputs, 1, 1, outputs };
  const cmsis_nn_dims out = { batches, 1, 1, outputs }, bias_dims = { 1, 1, 1, outputs };
  const cmsis_nn_context none = { NULL, 0 };
  const int32_t ahead = (batches - 1) * max_of(0, outputs - inputs);
  const int32_t s = ahead + (PLAIN ? (outputs - 1) / 12 * 12 : floor4(outputs - 1));
  int8_t *const actual = values(batches * outputs);
  int8_t *const memory = overlap(input, batches * inputs, batches * outputs, s);
  expect_status(ARM_CMSIS_NN_SUCCESS, arm_fully_connected_s4(&none, &params, &quant, &in, input, &taps, filter,
                                                             &bias_dims, bias, &out, actual));
  compare("wrong at", expected, actual, batches * outputs);
  expect_status(ARM_CMSIS_NN_SUCCESS, arm_fully_connected_s4(&none, &params, &quant, &in, memory + s, &taps, filter,
                                                             &bias_dims, bias, &out, memory));
  compare("wrong when overlapped at", expected, memory, batches * outputs);
  end_case();
}

// Sizes by core are those of any core.
static void test_sizes(void) {
  what = "sizes";
  const layer_geometry g = random_geometry();
  const cmsis_nn_conv_params params = { .stride = g.stride, .padding = g.padding, .dilation = g.dilation };
  const cmsis_nn_dw_conv_params spread = { .ch_mult = 1, .stride = g.stride, .dilation = g.dilation };
  const cmsis_nn_dims taps = { g.in.c, g.taps.h, g.taps.w, g.in.c };
  const int32_t size = arm_convolve_wrapper_s4_get_buffer_size(&params, &g.in, &taps, &g.in);
  const int32_t depthwise_size = arm_depthwise_conv_wrapper_s4_get_buffer_size(&spread, &g.in, &taps, &g.in);
  if (arm_convolve_wrapper_s4_get_buffer_size_dsp(&params, &g.in, &taps, &g.in) != size ||
      arm_convolve_wrapper_s4_get_buffer_size_mve(&params, &g.in, &taps, &g.in) != size ||
      arm_depthwise_conv_wrapper_s4_get_buffer_size_dsp(&spread, &g.in, &taps, &g.in) != depthwise_size ||
      arm_depthwise_conv_wrapper_s4_get_buffer_size_mve(&spread, &g.in, &taps, &g.in) != depthwise_size) {
    fail("differ", (uint32_t)size);
  }
}

// Arguments that are no case of a function.
static void test_errors(void) {
  what = "arguments";
  const cmsis_nn_context none = { NULL, 0 };
  int32_t memory[64];
  const cmsis_nn_context some = { memory, sizeof memory };
  const cmsis_nn_conv_params params = { .stride = { 1, 1 }, .dilation = { 1, 1 } };
  const cmsis_nn_conv_params padded = { .stride = { 1, 1 }, .padding = { 1, 0 }, .dilation = { 1, 1 } };
  const cmsis_nn_dw_conv_params spread = { .ch_mult = 2, .stride = { 1, 1 }, .dilation = { 1, 1 } };
  const cmsis_nn_dw_conv_params single = { .ch_mult = 1, .stride = { 1, 1 }, .dilation = { 1, 1 } };
  int32_t multiplier[4] = { 1 << 30, 1 << 30, 1 << 30, 1 << 30 }, shift[4] = { -2, -2, -2, -2 };
  const cmsis_nn_per_channel_quant_params quant = { multiplier, shift };
  const cmsis_nn_dims in = { 1, 2, 2, 3 }, taps = { 3, 1, 1, 3 }, two = { 3, 1, 1, 2 }, wide = { 1, 2, 2, 6 };
  int8_t input[32] = { 0 }, output[32];
  const int8_t filter[16] = { 0 };
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_convolve_s4(&none, &params, &quant, &in, input, &taps, filter, &in, NULL,
                                                        &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_convolve_s4(&some, &params, &quant, &in, input, &two, filter, &in, NULL,
                                                        &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_convolve_even_s4(&some, &params, &quant, &in, input, &taps, filter, &in,
                                                             NULL, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_convolve_1x1_s4(&none, &padded, &quant, &in, input, &taps, filter, &in,
                                                            NULL, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_convolve_1x1_s4_fast(&some, &padded, &quant, &in, input, &taps, filter,
                                                                 &in, NULL, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_convolve_1_x_n_s4(&some, &params, &quant, &in, input, &taps, filter, &in,
                                                              NULL, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_depthwise_conv_s4(&none, &spread, &quant, &in, input, &taps, filter,
                                                              &in, NULL, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_depthwise_conv_s4_opt(&some, &spread, &quant, &in, input, &taps,
                                                                  filter, &in, NULL, &wide, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_depthwise_conv_s4_opt(&none, &single, &quant, &in, input, &taps, filter,
                                                                  &in, NULL, &in, output));
}

int main(void) {
  for (case_number = 0; case_number < CASES; ++case_number) {
    for (convolution function = CONVOLVE; function <= EVEN; ++function) {
      test_convolution(function);
    }
    for (depthwise function = DEPTHWISE; function <= DEPTHWISE_WRAPPER; ++function) {
      test_depthwise(function);
    }
    test_fully_connected();
    test_sizes();
  }
  test_errors();
  print_number(cases_run);
  semihost_print(failures == 0 ? " cases with weights of 4 bits passed\n"
                               : " cases with weights of 4 bits, and some failed\n");
  return failures == 0 ? 0 : 1;
}
