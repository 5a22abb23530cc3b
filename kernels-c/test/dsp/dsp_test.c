// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every function of dsp/ on random small cases: compared with the reference kernel, with exactly as much scratch as it
// asks for, and where its header says how far output and input may overlap, once more overlapped that far. Natively and
// on the target the cases are the same.
#include "dsp_cases.h"
#include "dmo_dsp_depthwise_in_place.h"
#include "dmo_dsp_pitched.h"
#include "dmo_elementwise.h"
#include "dmo_layout.h"
#include "dmo_matmul.h"
#include "dmo_pool.h"
#include "dmo_softmax.h"
#include "dmo_transposed_conv.h"

#ifndef CASES
#define CASES 2000
#endif

static cmsis_nn_context conv_scratch(convolution function, const conv_case *c) {
  switch (function) {
  case CONVOLVE:
    return scratch(arm_convolve_s8_get_buffer_size(&c->g.in, &c->g.taps));
  case WRAPPER:
    return scratch(arm_convolve_wrapper_s8_get_buffer_size(&c->params, &c->g.in, &c->g.taps, &c->g.out));
  case POINTWISE_FAST:
    return scratch(arm_convolve_1x1_s8_fast_get_buffer_size(&c->g.in));
  case ONE_ROW:
    return scratch(arm_convolve_1_x_n_s8_get_buffer_size(&c->params, &c->g.in, &c->g.taps, &c->g.out));
  default:
    return scratch(0);
  }
}

static void run_conv(convolution function, const conv_case *c, const int8_t *input, int8_t *output) {
  static const cmsis_nn_dims no_upscale = { 1, 1, 1, 1 };
  const cmsis_nn_context ctx = conv_scratch(function, c);
  const cmsis_nn_dims bias_dims = { 1, 1, 1, c->g.out.c };
  const cmsis_nn_dims taps = given_taps(function, &c->g);
  arm_cmsis_nn_status status = ARM_CMSIS_NN_FAILURE;
  switch (function) {
  case CONVOLVE:
    status = arm_convolve_s8(&ctx, &c->params, &c->quant, &c->g.in, input, &taps, c->filter, &bias_dims, c->bias,
                             one_in(2) ? NULL : &no_upscale, &c->g.out, output);
    break;
  case WRAPPER:
    status = arm_convolve_wrapper_s8(&ctx, &c->params, &c->quant, &c->g.in, input, &taps, c->filter, &bias_dims,
                                     c->bias, &c->g.out, output);
    break;
  case POINTWISE_FAST:
    status = arm_convolve_1x1_s8_fast(&ctx, &c->params, &c->quant, &c->g.in, input, &taps, c->filter, &bias_dims,
                                      c->bias, &c->g.out, output);
    break;
  case POINTWISE:
    status = arm_convolve_1x1_s8(&ctx, &c->params, &c->quant, &c->g.in, input, &taps, c->filter, &bias_dims,
                                 c->bias, &c->g.out, output);
    break;
  default:
    status = arm_convolve_1_x_n_s8(&ctx, &c->params, &c->quant, &c->g.in, input, &taps, c->filter, &bias_dims,
                                   c->bias, &c->g.out, output);
    break;
  }
  expect_status(ARM_CMSIS_NN_SUCCESS, status);
}

static void test_convolution(convolution function) {
  static const char *const names[] = { "arm_convolve_s8", "arm_convolve_wrapper_s8", "arm_convolve_1x1_s8_fast",
                                       "arm_convolve_1x1_s8", "arm_convolve_1_x_n_s8" };
  what = names[function];
  conv_case c = random_convolution(function);
  const layer_geometry *const g = &c.g;
  c.filter = values(size_of(&g->taps));
  const int8_t *const input = values(size_of(&g->in));
  int8_t *const expected = allocate(size_of(&g->out));
  int8_t *const actual = values(size_of(&g->out));

  const dmo_conv2d_params params =
      reference_params(g, c.params.input_offset, c.params.output_offset, c.params.activation);
  const dmo_quant_per_channel quant = { c.quant.multiplier, c.quant.shift };
  const dmo_shape in = shape_of(&g->in), taps = shape_of(&g->taps), out = shape_of(&g->out);
  dmo_conv2d_s8(&params, &quant, &in, input, &taps, c.filter, c.bias, &out, expected);
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

// S as the header has it: of the blocks of four pixels, and the first input that a pixel or a later one loads.
static int32_t transposed_displacement(const layer_geometry *g) {
  const int32_t pixels = g->out.h * g->out.w;
  const int32_t in_batch = g->in.h * g->in.w * g->in.c;
  int32_t first = in_batch, result = 0;
  for (int32_t q = pixels - 1; q >= 0; --q) {
    for (int32_t iy = 0; iy < g->in.h; ++iy) {
      for (int32_t ix = 0; ix < g->in.w; ++ix) {
        const int32_t fy = q / g->out.w + g->padding.h - iy * g->stride.h;
        const int32_t fx = q % g->out.w + g->padding.w - ix * g->stride.w;
        const int32_t at = (iy * g->in.w + ix) * g->in.c;
        if (fy >= 0 && fy < g->taps.h && fx >= 0 && fx < g->taps.w && at < first) {
          first = at;
        }
      }
    }
    if (first < in_batch) {
      result = max_of(result, floor4(q) * g->out.c - first);
    }
  }
  return result + (g->out.n - 1) * max_of(0, pixels * g->out.c - in_batch);
}

static void run_transposed(bool wrapper, const layer_geometry *g, const cmsis_nn_transpose_conv_params *params,
                           const cmsis_nn_per_channel_quant_params *quant, const int8_t *input, const int8_t *filter,
                           const int32_t *bias, int8_t *output) {
  // TensorFlow Lite Micro has set no more when it asks for the sizes.
  cmsis_nn_transpose_conv_params known;
  memset(&known, between(-128, 127), sizeof known);
  known.stride = params->stride;
  const cmsis_nn_context ctx = scratch(arm_transpose_conv_s8_get_buffer_size(&known, &g->in, &g->taps, &g->out));
  const cmsis_nn_context reversed =
      scratch(arm_transpose_conv_s8_get_reverse_conv_buffer_size(&known, &g->in, &g->taps));
  const cmsis_nn_dims bias_dims = { 1, 1, 1, g->out.c };
  expect_status(ARM_CMSIS_NN_SUCCESS,
                wrapper ? arm_transpose_conv_wrapper_s8(&ctx, &reversed, params, quant, &g->in, input, &g->taps,
                                                        filter, &bias_dims, bias, &g->out, output)
                        : arm_transpose_conv_s8(&ctx, &reversed, params, quant, &g->in, input, &g->taps, filter,
                                                &bias_dims, bias, &g->out, output));
}

static void test_transposed_convolution(void) {
  what = "arm_transpose_conv_s8";
  layer_geometry g = random_geometry();
  g.dilation = (cmsis_nn_tile){ 1, 1 };
  g.out.c = random_channels();
  g.taps.n = g.out.c;
  g.taps.c = g.in.c;
  if (one_in(2)) {
    // All that the input reaches.
    g.out.h = max_of(1, (g.in.h - 1) * g.stride.h + g.taps.h - 2 * g.padding.h);
    g.out.w = max_of(1, (g.in.w - 1) * g.stride.w + g.taps.w - 2 * g.padding.w);
  }
  const cmsis_nn_transpose_conv_params params = { .input_offset = between(-127, 128),
                                                  .output_offset = between(-128, 127),
                                                  .stride = g.stride,
                                                  .padding = g.padding,
                                                  .dilation = g.dilation,
                                                  .activation = random_activation() };
  int32_t *bias;
  const cmsis_nn_per_channel_quant_params numbers = random_quant(g.out.c, &bias);
  const dmo_quant_per_channel quant = { numbers.multiplier, numbers.shift };
  const dmo_conv2d_params reference =
      reference_params(&g, params.input_offset, params.output_offset, params.activation);
  const dmo_shape in = shape_of(&g.in), taps = shape_of(&g.taps), out = shape_of(&g.out);
  const int8_t *const input = values(size_of(&g.in));
  const int8_t *const filter = values(size_of(&g.taps));
  int8_t *const expected = allocate(size_of(&g.out));
  int8_t *const actual = values(size_of(&g.out));
  int32_t *const sums = allocate(dmo_transposed_conv2d_s8_scratch_bytes(&out));
  dmo_transposed_conv2d_s8(&reference, &quant, &in, input, &taps, filter, bias, &out, expected, sums);
  run_transposed(one_in(2), &g, &params, &numbers, input, filter, bias, actual);
  compare("wrong at", expected, actual, size_of(&g.out));

  const int32_t s = transposed_displacement(&g);
  int8_t *const memory = overlap(input, size_of(&g.in), size_of(&g.out), s);
  run_transposed(false, &g, &params, &numbers, memory + s, filter, bias, memory);
  compare("wrong when overlapped at", expected, memory, size_of(&g.out));
  end_case();
}

typedef enum { DEPTHWISE, DEPTHWISE_OPT, DEPTHWISE_3X3, DEPTHWISE_WRAPPER } depthwise;

static void run_depthwise(depthwise function, const layer_geometry *g, const cmsis_nn_dw_conv_params *params,
                          const cmsis_nn_per_channel_quant_params *quant, const int8_t *input, const int8_t *filter,
                          const int32_t *bias, int8_t *output) {
  const cmsis_nn_dims bias_dims = { 1, 1, 1, g->out.c };
  const cmsis_nn_dw_conv_params known = known_when_asked(params);
  const int32_t bytes =
      function == DEPTHWISE_OPT       ? arm_depthwise_conv_s8_opt_get_buffer_size(&g->in, &g->taps)
      : function == DEPTHWISE_WRAPPER ? arm_depthwise_conv_wrapper_s8_get_buffer_size(&known, &g->in, &g->taps, &g->out)
                                      : 0;
  const cmsis_nn_context ctx = scratch(bytes);
  arm_cmsis_nn_status status = ARM_CMSIS_NN_FAILURE;
  switch (function) {
  case DEPTHWISE:
    status = arm_depthwise_conv_s8(&ctx, params, quant, &g->in, input, &g->taps, filter, &bias_dims, bias, &g->out,
                                   output);
    break;
  case DEPTHWISE_OPT:
    status = arm_depthwise_conv_s8_opt(&ctx, params, quant, &g->in, input, &g->taps, filter, &bias_dims, bias,
                                       &g->out, output);
    break;
  case DEPTHWISE_3X3:
    status = arm_depthwise_conv_3x3_s8(&ctx, params, quant, &g->in, input, &g->taps, filter, &bias_dims, bias,
                                       &g->out, output);
    break;
  case DEPTHWISE_WRAPPER:
    status = arm_depthwise_conv_wrapper_s8(&ctx, params, quant, &g->in, input, &g->taps, filter, &bias_dims, bias,
                                           &g->out, output);
    break;
  }
  expect_status(ARM_CMSIS_NN_SUCCESS, status);
}

static void test_depthwise(depthwise function) {
  static const char *const names[] = { "arm_depthwise_conv_s8", "arm_depthwise_conv_s8_opt",
                                       "arm_depthwise_conv_3x3_s8", "arm_depthwise_conv_wrapper_s8" };
  what = names[function];
  layer_geometry g = random_geometry();
  int32_t multiplier = 1;
  if ((function == DEPTHWISE || function == DEPTHWISE_WRAPPER) && one_in(2)) {
    multiplier = between(1, 9);
    g.in.c = between(1, 6);
    if (one_in(2)) {
      // A plane, and windows in which several taps lie in a row.
      g.in.c = 1;
      g.in.w = between(1, 24);
      g.taps.h = between(1, 10);
      g.taps.w = one_in(2) ? 4 * between(1, 2) : between(1, 9);
      g.out.w = between(1, 12);
    }
  }
  if (function == DEPTHWISE_3X3 || (multiplier == 1 && one_in(2))) {
    g.taps.h = g.taps.w = 3;
  }
  if (function == DEPTHWISE_3X3) {
    g.dilation = (cmsis_nn_tile){ 1, 1 };
    g.padding.w = between(0, 1);
  }
  g.out.c = g.in.c * multiplier;
  g.taps.n = 1;
  g.taps.c = g.out.c;
  const cmsis_nn_dw_conv_params params = { .input_offset = between(-127, 128), .output_offset = between(-128, 127),
                                           .ch_mult = multiplier, .stride = g.stride, .padding = g.padding,
                                           .dilation = g.dilation, .activation = random_activation() };
  int32_t *bias;
  const cmsis_nn_per_channel_quant_params quant = random_quant(g.out.c, &bias);
  const int8_t *const filter = values(size_of(&g.taps));
  const int8_t *const input = values(size_of(&g.in));
  int8_t *const expected = allocate(size_of(&g.out));
  int8_t *const actual = values(size_of(&g.out));

  const dmo_conv2d_params reference =
      reference_params(&g, params.input_offset, params.output_offset, params.activation);
  const dmo_quant_per_channel reference_quant = { quant.multiplier, quant.shift };
  const dmo_shape in = shape_of(&g.in), taps = shape_of(&g.taps), out = shape_of(&g.out);
  dmo_depthwise_conv2d_s8(&reference, &reference_quant, &in, input, &taps, filter, bias, &out, expected);
  run_depthwise(function, &g, &params, &quant, input, filter, bias, actual);
  compare("wrong at", expected, actual, size_of(&g.out));

  // The reference kernel's displacement: an input channel's last output lies C * (M - 1) behind where it is.
  const int32_t s = displacement(&g, 1, g.out.c - g.in.c);
  int8_t *const memory = overlap(input, size_of(&g.in), size_of(&g.out), s);
  run_depthwise(function, &g, &params, &quant, memory + s, filter, bias, memory);
  compare("wrong when overlapped at", expected, memory, size_of(&g.out));
  end_case();
}

typedef struct {
  cmsis_nn_fc_params params;
  int32_t *multiplier, *shift;
  int32_t batches, inputs, outputs;
  const int8_t *filter;
  const int32_t *bias;
} fully_connected_layer;

// With a scale for each output it is a convolution by filters of one pixel.
static void fully_connected_reference(const fully_connected_layer *l, bool per_channel, const int8_t *input,
                                      int8_t *output) {
  const cmsis_nn_activation range = l->params.activation;
  if (!per_channel) {
    const dmo_fully_connected_params params = { l->params.input_offset, l->params.filter_offset,
                                                l->params.output_offset, range.min, range.max };
    const dmo_quant_per_tensor quant = { l->multiplier[0], l->shift[0] };
    dmo_fully_connected_s8(&params, &quant, l->batches, l->inputs, l->outputs, input, l->filter, l->bias, output);
    return;
  }
  const dmo_conv2d_params params = { { 1, 1, 1, 1, 0, 0 }, l->params.input_offset, l->params.output_offset,
                                     range.min, range.max };
  const dmo_quant_per_channel quant = { l->multiplier, l->shift };
  const dmo_shape in = { l->batches, 1, 1, l->inputs }, taps = { l->outputs, 1, 1, l->inputs };
  const dmo_shape out = { l->batches, 1, 1, l->outputs };
  dmo_conv2d_s8(&params, &quant, &in, input, &taps, l->filter, l->bias, &out, output);
}

static void run_fully_connected(const fully_connected_layer *l, bool per_channel, const int8_t *input,
                                int8_t *output) {
  const cmsis_nn_dims in = { l->batches, 1, 1, l->inputs }, taps = { l->inputs, 1, 1, l->outputs };
  const cmsis_nn_dims out = { l->batches, 1, 1, l->outputs }, bias_dims = { 1, 1, 1, l->outputs };
  const cmsis_nn_context ctx = scratch(arm_fully_connected_s8_get_buffer_size(&taps));
  const cmsis_nn_per_tensor_quant_params of_all = { l->multiplier[0], l->shift[0] };
  const cmsis_nn_per_channel_quant_params of_each = { l->multiplier, l->shift };
  expect_status(ARM_CMSIS_NN_SUCCESS,
                per_channel ? arm_fully_connected_per_channel_s8(&ctx, &l->params, &of_each, &in, input, &taps,
                                                                 l->filter, &bias_dims, l->bias, &out, output)
                            : arm_fully_connected_s8(&ctx, &l->params, &of_all, &in, input, &taps, l->filter,
                                                     &bias_dims, l->bias, &out, output));
}

// One scale of the filter, or one of each output.
static void test_fully_connected(bool per_channel) {
  what = per_channel ? "arm_fully_connected_per_channel_s8" : "arm_fully_connected_s8";
  const int32_t batches = between(1, 3), inputs = between(1, 40), outputs = between(1, 20);
  // Sums that are the bias, about where they cannot be doubled any more.
  const bool at_limit = one_in(8);
  const int32_t limit = one_in(2) ? 1 << 30 : -(1 << 30);
  const cmsis_nn_fc_params params = { .input_offset = between(-127, 128),
                                      .filter_offset = at_limit || per_channel || one_in(2) ? 0 : between(-127, 128),
                                      .output_offset = between(-128, 127), .activation = random_activation() };
  const int32_t scales = per_channel ? outputs : 1;
  int32_t *const multiplier = numbers(scales, 1 << 30, INT32_MAX), *const shift = numbers(scales, -14, 1);
  if (one_in(20)) {
    multiplier[0] = 0;
  }
  const int32_t *const bias = at_limit    ? numbers(outputs, limit - 2, limit + 2)
                              : one_in(5) ? NULL
                                          : numbers(outputs, -50000, 50000);
  int8_t *const filter = values(inputs * outputs);
  if (at_limit) {
    memset(filter, 0, (size_t)(inputs * outputs));
  }
  const int8_t *const input = values(batches * inputs);
  int8_t *const expected = allocate(batches * outputs);
  int8_t *const actual = values(batches * outputs);
  const fully_connected_layer layer = { params, multiplier, shift, batches, inputs, outputs, filter, bias };
  fully_connected_reference(&layer, per_channel, input, expected);
  run_fully_connected(&layer, per_channel, input, actual);
  compare("wrong at", expected, actual, batches * outputs);

  const int32_t ahead = (batches - 1) * max_of(0, outputs - inputs);
  const int32_t s = PLAIN               ? ahead + (outputs - 1) / 12 * 12
                    : !CHANNELS_OUTSIDE ? ahead + floor4(outputs - 1)
                    : outputs > 4       ? (batches - 1) * outputs + floor4(outputs - 1)
                                      : ahead;
  int8_t *const memory = overlap(input, batches * inputs, batches * outputs, s);
  run_fully_connected(&layer, per_channel, memory + s, memory);
  compare("wrong when overlapped at", expected, memory, batches * outputs);
  end_case();
}

static void test_pool(bool maximum) {
  what = maximum ? "arm_max_pool_s8" : "arm_avgpool_s8";
  layer_geometry g = random_geometry();
  g.dilation = (cmsis_nn_tile){ 1, 1 };
  if (one_in(10)) {
    g.in.h = g.in.w = 20; // sums that do not fit in 16 bit
    g.in.c = between(1, 9);
    g.taps.h = g.taps.w = between(15, 20);
  }
  // No window lies wholly outside.
  g.padding = (cmsis_nn_tile){ between(0, g.taps.w - 1), between(0, g.taps.h - 1) };
  g.out.h = between(1, (g.in.h + g.padding.h - 1) / g.stride.h + 1);
  g.out.w = between(1, (g.in.w + g.padding.w - 1) / g.stride.w + 1);
  g.out.c = g.in.c;
  const cmsis_nn_pool_params params = { g.stride, g.padding, random_activation() };
  const dmo_pool_params reference = { { g.taps.h, g.taps.w, g.stride.h, g.stride.w, g.padding.h, g.padding.w },
                                      params.activation.min, params.activation.max };
  int8_t *const input = values(size_of(&g.in));
  if (one_in(g.in.h == 20 ? 2 : 20)) {
    memset(input, one_in(2) ? -128 : 127, (size_t)size_of(&g.in)); // the largest sums
  }
  int8_t *const expected = allocate(size_of(&g.out));
  int8_t *const actual = values(size_of(&g.out));
  const int32_t s = displacement(&g, 1, 0);
  int8_t *const memory = overlap(input, size_of(&g.in), size_of(&g.out), s);
  const dmo_shape in = shape_of(&g.in), out = shape_of(&g.out);
  const cmsis_nn_context ctx = scratch(maximum ? 0 : arm_avgpool_s8_get_buffer_size(g.out.w, g.in.c));
  arm_cmsis_nn_status (*const pool)(const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *,
                                    const int8_t *, const cmsis_nn_dims *, const cmsis_nn_dims *, int8_t *) =
      maximum ? arm_max_pool_s8 : arm_avgpool_s8;
  (maximum ? dmo_max_pool_s8 : dmo_avg_pool_s8)(&reference, &in, input, &out, expected);
  expect_status(ARM_CMSIS_NN_SUCCESS, pool(&ctx, &params, &g.in, input, &g.taps, &g.out, actual));
  compare("wrong at", expected, actual, size_of(&g.out));
  expect_status(ARM_CMSIS_NN_SUCCESS, pool(&ctx, &params, &g.in, memory + s, &g.taps, &g.out, memory));
  compare("wrong when overlapped at", expected, memory, size_of(&g.out));
  end_case();
}

static void test_softmax(void) {
  what = "arm_softmax_s8";
  const int32_t rows = between(1, 3), depth = between(1, 30);
  const int32_t multiplier = between(1 << 30, INT32_MAX), shift = between(18, 26);
  const int32_t diff_min = -(int32_t)((INT64_C(31) << 26) >> shift);
  const dmo_softmax_params params = { { multiplier, shift }, diff_min };
  const int8_t *const input = values(rows * depth);
  int8_t *const expected = allocate(rows * depth);
  int8_t *const memory = overlap(input, rows * depth, rows * depth, 0);
  dmo_softmax_s8(&params, rows, depth, input, expected);
  arm_softmax_s8(memory, rows, depth, multiplier, shift, diff_min, memory);
  compare("wrong in place at", expected, memory, rows * depth);
  end_case();
}

static void test_add(void) {
  what = "arm_elementwise_add_s8";
  const int32_t count = between(1, 40);
  const cmsis_nn_activation activation = random_activation();
  // Powers of two, whose quotients lie halfway between integers, and any numbers.
  const int32_t largest = one_in(3) ? 1 << 30 : INT32_MAX;
  const dmo_add_params params = {
    .input1_offset = between(-127, 128), .input2_offset = between(-127, 128), .output_offset = between(-128, 127),
    .input1 = { between(1 << 30, largest), one_in(2) ? 0 : between(-6, 0) },
    .input2 = { between(1 << 30, largest), one_in(2) ? 0 : between(-6, 0) },
    .output = { between(1 << 30, largest), one_in(20) ? between(-31, -22) : between(-21, -16) },
    .activation_min = activation.min, .activation_max = activation.max,
  };
  const int8_t *const input1 = values(count), *const input2 = values(count);
  int8_t *const expected = allocate(count), *const actual = values(count);
  dmo_add_s8(&params, count, input1, input2, expected);
  int8_t *const memory = overlap(one_in(2) ? input1 : input2, count, count, 0);
  for (int32_t in_place = 0; in_place < 2; ++in_place) {
    const bool first = memcmp(memory, input1, (size_t)count) == 0;
    const int8_t *const in1 = in_place && first ? memory : input1;
    const int8_t *const in2 = in_place && !first ? memory : input2;
    int8_t *const out = in_place ? memory : actual;
    expect_status(ARM_CMSIS_NN_SUCCESS,
                  arm_elementwise_add_s8(in1, in2, params.input1_offset, params.input1.multiplier, params.input1.shift,
                                         params.input2_offset, params.input2.multiplier, params.input2.shift,
                                         DMO_ADD_LEFT_SHIFT, out, params.output_offset, params.output.multiplier,
                                         params.output.shift, activation.min, activation.max, count));
    compare(in_place ? "wrong in place at" : "wrong at", expected, out, count);
  }
  end_case();
}

static void test_mul(void) {
  what = "arm_elementwise_mul_s8";
  const int32_t count = between(1, 40);
  const cmsis_nn_activation activation = random_activation();
  const dmo_mul_params params = {
    .input1_offset = between(-127, 128), .input2_offset = between(-127, 128), .output_offset = between(-128, 127),
    .output = { between(1 << 30, INT32_MAX), between(-12, 1) },
    .activation_min = activation.min, .activation_max = activation.max,
  };
  const int8_t *const input2 = values(count);
  int8_t *const memory = values(count);
  int8_t *const expected = allocate(count);
  dmo_mul_s8(&params, count, memory, input2, expected);
  expect_status(ARM_CMSIS_NN_SUCCESS,
                arm_elementwise_mul_s8(memory, input2, params.input1_offset, params.input2_offset, memory,
                                       params.output_offset, params.output.multiplier, params.output.shift,
                                       activation.min, activation.max, count));
  compare("wrong in place at", expected, memory, count);
  end_case();
}

static void test_relu(bool six) {
  what = six ? "arm_relu6_s8" : "arm_relu_q7";
  const int32_t count = between(0, 40);
  int8_t *const data = values(count);
  int8_t *const expected = allocate(count);
  for (int32_t i = 0; i < count; ++i) {
    expected[i] = (int8_t)dmo_clamp(data[i], 0, six ? 6 : 127);
  }
  (six ? arm_relu6_s8 : arm_relu_q7)(data, (uint16_t)count);
  compare("wrong at", expected, data, count);
  end_case();
}

// Of this layout the reference kernel's axes are w, z, y and x.
static void test_concatenation(dmo_axis axis) {
  what = "arm_concatenation_s8";
  dmo_shape shapes[2] = { { between(1, 3), between(1, 4), between(1, 4), between(1, 5) } };
  int32_t *const extents[2][4] = { { &shapes[0].n, &shapes[0].h, &shapes[0].w, &shapes[0].c },
                                   { &shapes[1].n, &shapes[1].h, &shapes[1].w, &shapes[1].c } };
  shapes[1] = shapes[0];
  *extents[1][axis] = between(1, 5);
  const int32_t total = dmo_shape_size(&shapes[0]) + dmo_shape_size(&shapes[1]);
  const int8_t *const inputs[2] = { values(dmo_shape_size(&shapes[0])), values(dmo_shape_size(&shapes[1])) };
  int8_t *const expected = allocate(total);
  int8_t *const actual = values(total);
  dmo_concat_s8(axis, 2, shapes, inputs, expected);
  const uint16_t along = (uint16_t)(*extents[0][axis] + *extents[1][axis]);
  uint32_t offset = 0;
  for (int32_t i = 0; i < 2; ++i) {
    const uint16_t x = (uint16_t)shapes[i].c, y = (uint16_t)shapes[i].w, z = (uint16_t)shapes[i].h;
    const uint16_t w = (uint16_t)shapes[i].n;
    switch (axis) {
    case DMO_AXIS_N:
      arm_concatenation_s8_w(inputs[i], x, y, z, w, actual, offset);
      break;
    case DMO_AXIS_H:
      arm_concatenation_s8_z(inputs[i], x, y, z, w, actual, along, offset);
      break;
    case DMO_AXIS_W:
      arm_concatenation_s8_y(inputs[i], x, y, z, w, actual, along, offset);
      break;
    default:
      arm_concatenation_s8_x(inputs[i], x, y, z, w, actual, along, offset);
      break;
    }
    offset += (uint32_t)*extents[i][axis];
  }
  compare("wrong at", expected, actual, total);
  end_case();
}

static void test_pad(void) {
  what = "arm_pad_s8";
  const cmsis_nn_dims in = { between(1, 2), between(1, 4), between(1, 4), between(1, 5) };
  const bool channels = one_in(2);
  const cmsis_nn_dims pre = { between(0, 1), between(0, 2), between(0, 2), channels ? between(0, 2) : 0 };
  const cmsis_nn_dims post = { between(0, 1), between(0, 2), between(0, 2), channels ? between(0, 2) : 0 };
  const dmo_shape in_shape = shape_of(&in);
  const dmo_shape out = { pre.n + in.n + post.n, pre.h + in.h + post.h, pre.w + in.w + post.w, pre.c + in.c + post.c };
  const dmo_padding before = { pre.n, pre.h, pre.w, pre.c };
  const int8_t *const input = values(size_of(&in));
  int8_t *const expected = allocate(dmo_shape_size(&out));
  int8_t *const actual = values(dmo_shape_size(&out));
  dmo_pad_s8(&before, -7, &in_shape, input, &out, expected);
  expect_status(ARM_CMSIS_NN_SUCCESS, arm_pad_s8(input, actual, -7, &in, &pre, &post));
  compare("wrong at", expected, actual, dmo_shape_size(&out));
  end_case();
}

static void test_reshape(void) {
  what = "arm_reshape_s8";
  const int32_t count = between(1, 60);
  int8_t *const input = values(count);
  int8_t *const actual = values(count);
  arm_reshape_s8(input, actual, (uint32_t)count);
  compare("wrong at", input, actual, count);
  arm_reshape_s8(actual, actual, (uint32_t)count);
  compare("wrong in place at", input, actual, count);
  end_case();
}

static void test_transpose(void) {
  what = "arm_transpose_s8";
  const int32_t axes = between(1, 4);
  int32_t extents[4] = { 1, 1, 1, 1 }, out_extents[4] = { 1, 1, 1, 1 };
  uint32_t permutation[4] = { 0, 1, 2, 3 };
  for (int32_t i = 0; i < axes; ++i) {
    extents[i] = between(1, 5);
    const int32_t other = between(0, i);
    const uint32_t swapped = permutation[i];
    permutation[i] = permutation[other];
    permutation[other] = swapped;
  }
  int32_t count = 1;
  for (int32_t i = 0; i < axes; ++i) {
    out_extents[i] = extents[permutation[i]];
    count *= extents[i];
  }
  const cmsis_nn_dims in = { extents[0], extents[1], extents[2], extents[3] };
  const cmsis_nn_dims out = { out_extents[0], out_extents[1], out_extents[2], out_extents[3] };
  const cmsis_nn_transpose_params params = { axes, permutation };
  const int8_t *const input = values(count);
  int8_t *const expected = allocate(count);
  int8_t *const actual = values(count);
  // Each input element's place in the output, from its coordinates.
  for (int32_t i = 0; i < count; ++i) {
    int32_t at[4] = { 0, 0, 0, 0 }, rest = i, place = 0;
    for (int32_t axis = axes - 1; axis >= 0; --axis) {
      at[axis] = rest % extents[axis];
      rest /= extents[axis];
    }
    for (int32_t axis = 0; axis < axes; ++axis) {
      place = place * out_extents[axis] + at[permutation[axis]];
    }
    expected[place] = input[i];
  }
  expect_status(ARM_CMSIS_NN_SUCCESS, arm_transpose_s8(input, actual, &in, &out, &params));
  compare("wrong at", expected, actual, count);
  permutation[0] = 4;
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_transpose_s8(input, actual, &in, &out, &params));
  end_case();
}

static void test_svdf(void) {
  what = "arm_svdf_s8";
  const int32_t batches = between(1, 2), inputs = between(1, 12), rank = between(1, 3), units = between(1, 5);
  const int32_t memory = between(1, 9), filters = rank * units;
  // As TensorFlow Lite Micro gives it; what does not fit into the memory saturates.
  const cmsis_nn_activation of_16_bits = { INT16_MIN, INT16_MAX };
  const cmsis_nn_svdf_params params = { rank, between(-127, 128), between(-128, 127),
                                        one_in(2) ? of_16_bits : random_activation(), random_activation() };
  const cmsis_nn_per_tensor_quant_params in_quant = { between(1 << 30, INT32_MAX), between(-12, 0) };
  const cmsis_nn_per_tensor_quant_params out_quant = { between(1 << 30, INT32_MAX), between(-12, 0) };
  const cmsis_nn_dims in = { batches, inputs, 1, 1 }, state_dims = { batches, filters * memory, 1, 1 };
  const cmsis_nn_dims feature_dims = { filters, inputs, 1, 1 }, time_dims = { filters, memory, 1, 1 };
  const cmsis_nn_dims bias_dims = { units, 1, 1, 1 }, out = { batches, units, 1, 1 };
  const int8_t *const input = values(batches * inputs);
  const int8_t *const feature = values(filters * inputs), *const time = values(filters * memory);
  const int32_t *const bias = one_in(4) ? NULL : numbers(units, -5000, 5000);
  int8_t *const state = values(batches * filters * memory);
  int8_t *const expected_state = overlap(state, batches * filters * memory, 0, 0);
  int8_t *const expected = allocate(batches * units);
  const cmsis_nn_context none = { NULL, 0 };

  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t u = 0; u < units; ++u) {
      int32_t sum = bias == NULL ? 0 : bias[u];
      for (int32_t f = u * rank; f < (u + 1) * rank; ++f) {
        int8_t *const steps = &expected_state[(b * filters + f) * memory];
        int32_t dot = 0;
        for (int32_t i = 0; i < inputs; ++i) {
          dot += (input[b * inputs + i] - params.input_offset) * feature[f * inputs + i];
        }
        memmove(steps, steps + 1, (size_t)(memory - 1));
        steps[memory - 1] = (int8_t)dmo_clamp(dmo_requantize(dot, in_quant.multiplier, in_quant.shift),
                                              dmo_clamp(params.input_activation.min, INT8_MIN, INT8_MAX),
                                              dmo_clamp(params.input_activation.max, INT8_MIN, INT8_MAX));
        for (int32_t m = 0; m < memory; ++m) {
          sum += steps[m] * time[f * memory + m];
        }
      }
      expected[b * units + u] =
          (int8_t)dmo_clamp(dmo_requantize(sum, out_quant.multiplier, out_quant.shift) + params.output_offset,
                            params.output_activation.min, params.output_activation.max);
    }
  }
  int8_t *const shared = overlap(input, batches * inputs, batches * units, 0);
  expect_status(ARM_CMSIS_NN_SUCCESS,
                arm_svdf_s8(&none, &none, &none, &params, &in_quant, &out_quant, &in, shared, &state_dims, state,
                            &feature_dims, feature, &time_dims, time, &bias_dims, bias, &out, shared));
  compare("wrong in place at", expected, shared, batches * units);
  compare("wrong state at", expected_state, state, batches * filters * memory);
  end_case();
}

// Arguments that are no case of a function.
static void test_errors(void) {
  what = "arguments";
  uint32_t memory[64];
  const cmsis_nn_context ctx = { memory, sizeof memory }, none = { NULL, 0 };
  cmsis_nn_conv_params params = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .activation = { -128, 127 } };
  int32_t multiplier[2] = { 1 << 30, 1 << 30 }, shift[2] = { -1, -1 };
  const cmsis_nn_per_channel_quant_params quant = { multiplier, shift };
  const cmsis_nn_dims in = { 1, 2, 2, 2 }, taps = { 2, 1, 1, 2 }, two = { 1, 2, 2, 1 };
  int8_t input[8] = { 0 }, filter[4] = { 0 }, output[8];
  expect_status(ARM_CMSIS_NN_NO_IMPL_ERROR,
                arm_convolve_s8(&ctx, &params, &quant, &in, input, &taps, filter, &in, NULL, &two, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR,
                arm_convolve_s8(&none, &params, &quant, &in, input, &taps, filter, &in, NULL, NULL, &in, output));
  params.padding.w = 1;
  expect_status(ARM_CMSIS_NN_ARG_ERROR,
                arm_convolve_1x1_s8_fast(&ctx, &params, &quant, &in, input, &taps, filter, &in, NULL, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR,
                arm_convolve_1x1_s8(&ctx, &params, &quant, &in, input, &taps, filter, &in, NULL, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR,
                arm_convolve_1_x_n_s8(&ctx, &params, &quant, &in, input, &taps, filter, &in, NULL, &in, output));
}

// A tensor within bytes that are none of it.
static dmo_pitch random_pitch(const dmo_shape *shape) {
  const int32_t pixel = shape->c + (one_in(2) ? 0 : between(1, 7));
  return (dmo_pitch){ (shape->w - 1) * pixel + shape->c + (one_in(2) ? 0 : between(1, 9)), pixel };
}

static int32_t pitched_size(const dmo_shape *shape, const dmo_pitch *pitch) {
  return dmo_pitched_offset(pitch, shape->h - 1, shape->w - 1, shape->c);
}

static void paste(const dmo_shape *shape, const int8_t *from, const dmo_pitch *pitch, int8_t *to) {
  for (int32_t pixel = 0; pixel < shape->h * shape->w; ++pixel) {
    memcpy(to + dmo_pitched_offset(pitch, pixel / shape->w, pixel % shape->w, 0), from + pixel * shape->c,
           (size_t)shape->c);
  }
}

// Within larger tensors: what the reference kernel gives, pasted, and no other byte touched.
static void test_pitched(bool is_depthwise) {
  what = is_depthwise ? "dmo_dsp_depthwise_conv2d_pitched_s8" : "dmo_dsp_conv2d_pitched_s8";
  layer_geometry g = random_geometry();
  if (!is_depthwise && one_in(3)) {
    g.taps.h = g.taps.w = 1;
    g.padding = (cmsis_nn_tile){ 0, 0 };
  }
  if (is_depthwise && one_in(4)) {
    g.in.c = 1;
    g.taps.w = one_in(2) ? 4 * between(1, 2) : between(1, 9);
  }
  const dmo_shape in = { 1, g.in.h, g.in.w, g.in.c };
  const dmo_shape out = { 1, g.out.h, g.out.w, is_depthwise ? in.c * between(1, 5) : random_channels() };
  const dmo_shape taps = { is_depthwise ? 1 : out.c, g.taps.h, g.taps.w, is_depthwise ? out.c : in.c };
  int32_t *bias;
  const cmsis_nn_per_channel_quant_params numbers = random_quant(out.c, &bias);
  const dmo_quant_per_channel quant = { numbers.multiplier, numbers.shift };
  const cmsis_nn_activation activation = random_activation();
  const dmo_conv2d_params params = reference_params(&g, between(-127, 128), between(-128, 127), activation);
  const dmo_pitch in_pitch = random_pitch(&in), out_pitch = random_pitch(&out);
  const int32_t in_bytes = pitched_size(&in, &in_pitch), out_bytes = pitched_size(&out, &out_pitch);
  const int8_t *const input = values(dmo_shape_size(&in));
  const int8_t *const filter = values(dmo_shape_size(&taps));
  int8_t *const dense = values(dmo_shape_size(&out));
  int8_t *const spread = values(in_bytes);
  int8_t *const expected = values(out_bytes);
  int8_t *const actual = allocate(out_bytes);
  memcpy(actual, expected, (size_t)out_bytes);
  paste(&in, input, &in_pitch, spread);
  if (is_depthwise) {
    dmo_depthwise_conv2d_s8(&params, &quant, &in, input, &taps, filter, bias, &out, dense);
    dmo_dsp_depthwise_conv2d_pitched_s8(&params, &quant, &in, &in_pitch, spread, &taps, filter, bias, &out, &out_pitch,
                                        actual);
  } else {
    const cmsis_nn_context ctx = scratch(dmo_dsp_conv2d_pitched_s8_scratch_bytes(&taps));
    dmo_conv2d_s8(&params, &quant, &in, input, &taps, filter, bias, &out, dense);
    dmo_dsp_conv2d_pitched_s8(&params, &quant, &in, &in_pitch, spread, &taps, filter, bias, &out, &out_pitch, actual,
                              ctx.buf);
  }
  paste(&out, dense, &out_pitch, expected);
  compare("value", expected, actual, out_bytes);
  end_case();
}

// Apart, and over its input where that is safe.
static void test_depthwise_in_place(void) {
  what = "dmo_dsp_depthwise_conv2d_in_place_s8";
  layer_geometry g = random_geometry();
  if (one_in(2)) {
    g.taps.h = g.taps.w = 3;
  }
  const dmo_shape in = shape_of(&g.in);
  const dmo_shape out = { in.n, g.out.h, g.out.w, in.c };
  const dmo_shape taps = { 1, g.taps.h, g.taps.w, in.c };
  int32_t *bias;
  const cmsis_nn_per_channel_quant_params numbers = random_quant(out.c, &bias);
  const dmo_quant_per_channel quant = { numbers.multiplier, numbers.shift };
  const cmsis_nn_activation activation = random_activation();
  const dmo_conv2d_params params = reference_params(&g, between(-127, 128), between(-128, 127), activation);
  const int32_t in_bytes = dmo_shape_size(&in), out_bytes = dmo_shape_size(&out);
  const int8_t *const input = values(in_bytes);
  const int8_t *const filter = values(dmo_shape_size(&taps));
  int8_t *const expected = values(out_bytes);
  int8_t *const actual = values(out_bytes);
  int8_t *const plane = allocate(dmo_depthwise_conv2d_in_place_s8_scratch_bytes(&in));
  dmo_depthwise_conv2d_s8(&params, &quant, &in, input, &taps, filter, bias, &out, expected);
  dmo_dsp_depthwise_conv2d_in_place_s8(&params, &quant, &in, input, &taps, filter, bias, &out, actual, plane);
  compare("value", expected, actual, out_bytes);
  if (in.n == 1 || out_bytes <= in_bytes) {
    int8_t *const both = overlap(input, in_bytes, out_bytes, 0);
    dmo_dsp_depthwise_conv2d_in_place_s8(&params, &quant, &in, both, &taps, filter, bias, &out, both, plane);
    compare("value in place", expected, both, out_bytes);
  }
  end_case();
}

int main(void) {
  for (case_number = 0; case_number < CASES; ++case_number) {
    for (int32_t function = CONVOLVE; function <= ONE_ROW; ++function) {
      test_convolution((convolution)function);
    }
    test_transposed_convolution();
    for (int32_t function = DEPTHWISE; function <= DEPTHWISE_WRAPPER; ++function) {
      test_depthwise((depthwise)function);
    }
    test_fully_connected(false);
    test_fully_connected(true);
    test_pool(true);
    test_pool(false);
    test_softmax();
    test_add();
    test_mul();
    test_relu(false);
    test_relu(true);
    for (int32_t axis = DMO_AXIS_N; axis <= DMO_AXIS_C; ++axis) {
      test_concatenation((dmo_axis)axis);
    }
    test_pad();
    test_reshape();
    test_transpose();
    test_svdf();
    test_pitched(false);
    test_pitched(true);
    test_depthwise_in_place();
  }
  test_errors();
  print_number(cases_run);
  semihost_print(failures == 0 ? " cases with 8 bits passed\n" : " cases with 8 bits, and some failed\n");
  return failures == 0 ? 0 : 1;
}
