// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The functions of dsp/ with 16-bit activations, as dsp_test.c those with 8: random small cases compared with the
// reference kernels, apart and overlapped as far as the interface's header says.
#include "dsp_cases.h"
#include "dmo_broadcast.h"
#include "dmo_int16.h"
#include "dmo_softmax.h"
#include "dmo_svdf.h"
#include "dmo_uint8.h"

#ifndef CASES
#define CASES 1500
#endif

static int16_t *halves(int32_t count, int32_t most) {
  int16_t *const result = allocate(count * (int32_t)sizeof *result);
  for (int32_t i = 0; i < count; ++i) {
    result[i] = one_in(16) && most == INT16_MAX ? (int16_t)(one_in(2) ? INT16_MIN : INT16_MAX)
                                                : (int16_t)between(-most - 1, most);
  }
  return result;
}

static void compare_halves(const char *why, const int16_t *expected, const int16_t *actual, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (expected[i] != actual[i]) {
      fail(why, (uint32_t)i);
      return;
    }
  }
}

// A buffer in which the input lies s elements above the output.
static int16_t *overlap_halves(const int16_t *input, int32_t input_count, int32_t output_count, int32_t s) {
  int16_t *const memory = allocate(2 * max_of(output_count, s + input_count));
  memcpy(memory + s, input, 2 * (size_t)input_count);
  return memory;
}

static cmsis_nn_activation random_range(void) {
  if (one_in(2)) {
    return (cmsis_nn_activation){ INT16_MIN, INT16_MAX };
  }
  const int32_t min = between(INT16_MIN, INT16_MAX);
  return (cmsis_nn_activation){ min, between(min, INT16_MAX) };
}

// Scales and biases of a layer whose results fit in 32 bits.
typedef struct {
  int32_t *multiplier, *shift;
  int64_t *bias;      // or NULL
  int32_t *bias32;    // the same where they have 32 bits, or NULL
  int32_t most_input; // inputs are at most this: few of them if a shift is positive
} scales;

static int64_t random_bias(int32_t shift, bool is_int32) {
  const int32_t usual = 20;
  if (!is_int32 && shift <= -2 && one_in(6)) {
    // Around the largest sums of 32 bits.
    const int64_t large = (INT64_C(1) << 31) + between(-(1 << 24), 1 << 24);
    return one_in(2) ? large : -large;
  }
  const int32_t bits = is_int32 ? 20 : one_in(3) ? (shift < -10 ? 44 : 30) : usual;
  const int64_t any = (int64_t)between(INT32_MIN, INT32_MAX) * (INT64_C(1) << 16) + between(0, 65535);
  return any >> (47 - bits);
}

static scales random_scales(int32_t channels, int32_t columns, bool is_int32) {
  const bool small = one_in(6);
  scales result = { numbers(channels, 1 << 30, INT32_MAX), allocate(4 * channels), NULL, NULL,
                    small ? 3 : INT16_MAX };
  const bool has_bias = !one_in(5);
  if (has_bias && is_int32) {
    result.bias32 = allocate(4 * channels);
  } else if (has_bias) {
    result.bias = allocate(8 * channels);
  }
  for (int32_t c = 0; c < channels; ++c) {
    result.shift[c] = small ? between(-6, 7) : one_in(8) ? between(-31, -1) : between(-16, -2);
    if (columns > 511 && !small && result.shift[c] > -8) {
      result.shift[c] = -8;
    }
    if (one_in(12)) {
      result.multiplier[c] = between(0x7ffe0000, INT32_MAX);
    } else if (one_in(12)) {
      result.multiplier[c] = 1 << 30;
    } else if (one_in(30)) {
      result.multiplier[c] = 0;
    }
    const int64_t bias = small ? between(-5000, 5000) : random_bias(result.shift[c], is_int32);
    if (result.bias32 != NULL) {
      result.bias32[c] = (int32_t)bias;
    } else if (result.bias != NULL) {
      result.bias[c] = bias;
    }
  }
  return result;
}

// As dmo_conv2d_s16, with biases of 32 bits.
static void convolution_with_bias32(const dmo_conv2d_params *params, const layer_geometry *g, const scales *s,
                                    const int16_t *input, const int8_t *filter, int16_t *output) {
  const int32_t per_group = g->out.c / (g->in.c / g->taps.c);
  for (int32_t at = 0; at < size_of(&g->out); ++at) {
    const int32_t c = at % g->out.c, x = at / g->out.c % g->out.w, y = at / g->out.c / g->out.w % g->out.h;
    const int32_t b = at / (g->out.c * g->out.w * g->out.h);
    int64_t sum = s->bias32 == NULL ? 0 : s->bias32[c];
    for (int32_t tap = 0; tap < g->taps.h * g->taps.w * g->taps.c; ++tap) {
      const int32_t iy = y * g->stride.h - g->padding.h + tap / g->taps.c / g->taps.w * g->dilation.h;
      const int32_t ix = x * g->stride.w - g->padding.w + tap / g->taps.c % g->taps.w * g->dilation.w;
      const int32_t ic = c / per_group * g->taps.c + tap % g->taps.c;
      if (iy >= 0 && iy < g->in.h && ix >= 0 && ix < g->in.w) {
        sum += input[((b * g->in.h + iy) * g->in.w + ix) * g->in.c + ic] *
               filter[c * g->taps.h * g->taps.w * g->taps.c + tap];
      }
    }
    output[at] = (int16_t)dmo_clamp(dmo_requantize((int32_t)sum, s->multiplier[c], s->shift[c]),
                                    params->activation_min, params->activation_max);
  }
}

static void run_convolution(bool wrapper, const cmsis_nn_conv_params *params, const layer_geometry *g,
                            const scales *s, bool is_int32, const int16_t *input, const int8_t *filter,
                            int16_t *output) {
  const int32_t bytes = wrapper ? arm_convolve_wrapper_s16_get_buffer_size(params, &g->in, &g->taps, &g->out)
                                : arm_convolve_s16_get_buffer_size(&g->in, &g->taps);
  const cmsis_nn_context ctx = scratch(bytes);
  if (ctx.size > 4 * g->taps.h * g->taps.w * g->in.c) {
    fail("more scratch than in CMSIS-NN", (uint32_t)ctx.size);
  }
  const cmsis_nn_per_channel_quant_params quant = { s->multiplier, s->shift };
  const cmsis_nn_dims bias_dims = { 1, 1, 1, g->out.c };
  const cmsis_nn_bias_data bias = { is_int32 ? (const void *)s->bias32 : (const void *)s->bias, is_int32 };
  const cmsis_nn_bias_data *const any = s->bias == NULL && !is_int32 && one_in(2) ? NULL : &bias;
  expect_status(ARM_CMSIS_NN_SUCCESS, (wrapper ? arm_convolve_wrapper_s16 : arm_convolve_s16)(
                                          &ctx, params, &quant, &g->in, input, &g->taps, filter, &bias_dims, any,
                                          &g->out, output));
}

static void test_convolution(bool wrapper) {
  what = wrapper ? "arm_convolve_wrapper_s16" : "arm_convolve_s16";
  layer_geometry g = random_geometry();
  int32_t groups = 1;
  g.taps.c = g.in.c;
  g.out.c = random_channels();
  if (one_in(4)) {
    g.taps.h = g.taps.w = 1;
    g.padding = (cmsis_nn_tile){ 0, 0 };
  } else if (one_in(5)) {
    groups = between(2, 3);
    g.in.c = between(1, 6);
    g.taps.c = g.in.c;
    g.in.c *= groups;
    g.out.c = groups * between(1, 5);
  } else if (one_in(20)) {
    g.taps.h = g.taps.w = 3;
    g.in.c = g.taps.c = between(56, 130);
    g.in.h = g.in.w = between(1, 4);
    g.out.c = between(1, 4);
  }
  g.taps.n = g.out.c;
  const int32_t columns = g.taps.h * g.taps.w * g.taps.c;
  const bool is_int32 = one_in(4) && columns <= 400;
  const scales s = random_scales(g.out.c, columns, is_int32);
  if (is_int32) {
    for (int32_t c = 0; c < g.out.c; ++c) {
      s.shift[c] = s.shift[c] > 0 ? 0 : s.shift[c];
    }
  }
  const cmsis_nn_conv_params params = { .stride = g.stride, .padding = g.padding, .dilation = g.dilation,
                                        .activation = random_range() };
  int8_t *const filter = values(size_of(&g.taps));
  int16_t *const input = halves(size_of(&g.in), s.most_input);
  if (s.most_input == INT16_MAX && one_in(10)) {
    // The largest sums.
    memset(filter, -128, (size_t)size_of(&g.taps));
    for (int32_t i = 0; i < size_of(&g.in); ++i) {
      input[i] = INT16_MIN;
    }
  }
  int16_t *const expected = allocate(2 * size_of(&g.out));
  int16_t *const actual = halves(size_of(&g.out), INT16_MAX);
  const dmo_conv2d_params reference = reference_params(&g, 0, 0, params.activation);
  const dmo_quant_per_channel quant = { s.multiplier, s.shift };
  const dmo_shape in = shape_of(&g.in), taps = shape_of(&g.taps), out = shape_of(&g.out);
  if (is_int32) {
    convolution_with_bias32(&reference, &g, &s, input, filter, expected);
  } else {
    dmo_conv2d_s16(&reference, &quant, &in, input, &taps, filter, s.bias, &out, expected);
  }
  run_convolution(wrapper, &params, &g, &s, is_int32, input, filter, actual);
  compare_halves("wrong at", expected, actual, size_of(&g.out));
  if (groups == 1) {
    const int32_t distance = displacement(&g, 2, 0);
    int16_t *const memory = overlap_halves(input, size_of(&g.in), size_of(&g.out), distance);
    run_convolution(wrapper, &params, &g, &s, is_int32, memory + distance, filter, memory);
    compare_halves("wrong when overlapped at", expected, memory, size_of(&g.out));
  }
  end_case();
}

typedef arm_cmsis_nn_status depthwise_function(const cmsis_nn_context *, const cmsis_nn_dw_conv_params *,
                                               const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *,
                                               const int16_t *, const cmsis_nn_dims *, const int8_t *,
                                               const cmsis_nn_dims *, const int64_t *, const cmsis_nn_dims *,
                                               int16_t *);

static void test_depthwise(int32_t which) {
  static const char *const names[] = { "arm_depthwise_conv_s16", "arm_depthwise_conv_fast_s16",
                                       "arm_depthwise_conv_wrapper_s16" };
  static depthwise_function *const functions[] = { arm_depthwise_conv_s16, arm_depthwise_conv_fast_s16,
                                                   arm_depthwise_conv_wrapper_s16 };
  what = names[which];
  layer_geometry g = random_geometry();
  int32_t multiplier = 1;
  if (which != 1 && one_in(2)) {
    multiplier = between(1, 9);
    g.in.c = between(1, 6);
  }
  if (one_in(2)) {
    g.taps.h = g.taps.w = 3;
  } else if (which != 1 && one_in(20)) {
    g.taps.h = between(20, 26);
    g.taps.w = between(20, 26);
    g.in.h = g.in.w = between(1, 24);
    g.in.c = between(1, 5);
    g.dilation = (cmsis_nn_tile){ 1, 1 };
    g.out.h = g.out.w = between(1, 2);
  }
  g.out.c = g.in.c * multiplier;
  g.taps.n = 1;
  g.taps.c = g.out.c;
  const scales s = random_scales(g.out.c, g.taps.h * g.taps.w, false);
  const cmsis_nn_dw_conv_params params = { .ch_mult = multiplier, .stride = g.stride, .padding = g.padding,
                                           .dilation = g.dilation, .activation = random_range() };
  const int8_t *const filter = values(size_of(&g.taps));
  const int16_t *const input = halves(size_of(&g.in), s.most_input);
  int16_t *const expected = allocate(2 * size_of(&g.out));
  int16_t *const actual = halves(size_of(&g.out), INT16_MAX);
  const dmo_conv2d_params reference = reference_params(&g, 0, 0, params.activation);
  const dmo_quant_per_channel reference_quant = { s.multiplier, s.shift };
  const cmsis_nn_per_channel_quant_params quant = { s.multiplier, s.shift };
  const dmo_shape in = shape_of(&g.in), taps = shape_of(&g.taps), out = shape_of(&g.out);
  const int32_t bytes = which == 0   ? 0
                        : which == 1 ? arm_depthwise_conv_fast_s16_get_buffer_size(&g.in, &g.taps)
                                     : arm_depthwise_conv_wrapper_s16_get_buffer_size(&params, &g.in, &g.taps, &g.out);
  const cmsis_nn_context ctx = scratch(bytes);
  const cmsis_nn_dims bias_dims = { 1, 1, 1, g.out.c };
  dmo_depthwise_conv2d_s16(&reference, &reference_quant, &in, input, &taps, filter, s.bias, &out, expected);
  expect_status(ARM_CMSIS_NN_SUCCESS, functions[which](&ctx, &params, &quant, &g.in, input, &g.taps, filter,
                                                       &bias_dims, s.bias, &g.out, actual));
  compare_halves("wrong at", expected, actual, size_of(&g.out));

  // The reference kernel's displacement: an input channel's last output lies C * (M - 1) behind where it is.
  const int32_t distance = displacement(&g, 1, g.out.c - g.in.c);
  int16_t *const memory = overlap_halves(input, size_of(&g.in), size_of(&g.out), distance);
  expect_status(ARM_CMSIS_NN_SUCCESS, functions[which](&ctx, &params, &quant, &g.in, memory + distance, &g.taps,
                                                       filter, &bias_dims, s.bias, &g.out, memory));
  compare_halves("wrong when overlapped at", expected, memory, size_of(&g.out));
  end_case();
}

static void test_fully_connected(void) {
  what = "arm_fully_connected_s16";
  const int32_t batches = between(1, 3), outputs = between(1, 20);
  const int32_t inputs = one_in(12) ? between(500, 1100) : between(1, 40);
  const scales s = random_scales(1, inputs, false);
  const int32_t shift = s.shift[0];
  const cmsis_nn_fc_params params = { .activation = random_range() };
  int64_t *const bias = one_in(4) ? NULL : allocate(8 * outputs);
  for (int32_t i = 0; bias != NULL && i < outputs; ++i) {
    bias[i] = s.most_input < INT16_MAX ? between(-5000, 5000) : random_bias(shift, false);
  }
  const int8_t *const filter = values(inputs * outputs);
  const int16_t *const input = halves(batches * inputs, s.most_input);
  int16_t *const expected = allocate(2 * batches * outputs);
  const dmo_fully_connected_params reference = { 0, 0, 0, params.activation.min, params.activation.max };
  const dmo_quant_per_tensor reference_quant = { s.multiplier[0], shift };
  const cmsis_nn_per_tensor_quant_params quant = { s.multiplier[0], shift };
  dmo_fully_connected_s16(&reference, &reference_quant, batches, inputs, outputs, input, filter, bias, expected);
  const cmsis_nn_dims in = { batches, 1, 1, inputs }, taps = { inputs, 1, 1, outputs };
  const cmsis_nn_dims out = { batches, 1, 1, outputs }, bias_dims = { 1, 1, 1, outputs };
  const cmsis_nn_context ctx = scratch(arm_fully_connected_s16_get_buffer_size(&taps));
  const int32_t distance = (batches - 1) * max_of(0, outputs - inputs) + floor4(outputs - 1);
  int16_t *const memory = overlap_halves(input, batches * inputs, batches * outputs, distance);
  int16_t *const actual = halves(batches * outputs, INT16_MAX);
  expect_status(ARM_CMSIS_NN_SUCCESS, arm_fully_connected_s16(&ctx, &params, &quant, &in, input, &taps, filter,
                                                              &bias_dims, bias, &out, actual));
  compare_halves("wrong at", expected, actual, batches * outputs);
  expect_status(ARM_CMSIS_NN_SUCCESS, arm_fully_connected_s16(&ctx, &params, &quant, &in, memory + distance, &taps,
                                                              filter, &bias_dims, bias, &out, memory));
  compare_halves("wrong when overlapped at", expected, memory, batches * outputs);
  end_case();
}

static void test_pool(bool maximum) {
  what = maximum ? "arm_max_pool_s16" : "arm_avgpool_s16";
  layer_geometry g = random_geometry();
  g.dilation = (cmsis_nn_tile){ 1, 1 };
  // No window lies wholly outside.
  g.padding = (cmsis_nn_tile){ between(0, g.taps.w - 1), between(0, g.taps.h - 1) };
  g.out.h = between(1, (g.in.h + g.padding.h - 1) / g.stride.h + 1);
  g.out.w = between(1, (g.in.w + g.padding.w - 1) / g.stride.w + 1);
  g.out.c = g.in.c;
  const cmsis_nn_pool_params params = { g.stride, g.padding, random_range() };
  const dmo_pool_params reference = { { g.taps.h, g.taps.w, g.stride.h, g.stride.w, g.padding.h, g.padding.w },
                                      params.activation.min, params.activation.max };
  const int16_t *const input = halves(size_of(&g.in), one_in(4) ? 3 : INT16_MAX);
  int16_t *const expected = allocate(2 * size_of(&g.out)), *const actual = halves(size_of(&g.out), INT16_MAX);
  const int32_t s = displacement(&g, 1, 0);
  int16_t *const memory = overlap_halves(input, size_of(&g.in), size_of(&g.out), s);
  const dmo_shape in = shape_of(&g.in), out = shape_of(&g.out);
  const cmsis_nn_context ctx = scratch(maximum ? 0 : arm_avgpool_s16_get_buffer_size(g.out.w, g.in.c));
  arm_cmsis_nn_status (*const pool)(const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *,
                                    const int16_t *, const cmsis_nn_dims *, const cmsis_nn_dims *, int16_t *) =
      maximum ? arm_max_pool_s16 : arm_avgpool_s16;
  (maximum ? dmo_max_pool_s16 : dmo_avg_pool_s16)(&reference, &in, input, &out, expected);
  expect_status(ARM_CMSIS_NN_SUCCESS, pool(&ctx, &params, &g.in, input, &g.taps, &g.out, actual));
  compare_halves("wrong at", expected, actual, size_of(&g.out));
  expect_status(ARM_CMSIS_NN_SUCCESS, pool(&ctx, &params, &g.in, memory + s, &g.taps, &g.out, memory));
  compare_halves("wrong when overlapped at", expected, memory, size_of(&g.out));
  end_case();
}

static void test_add(void) {
  what = "arm_elementwise_add_s16";
  const int32_t count = between(1, 40);
  const cmsis_nn_activation range = random_range();
  // Powers of two, whose quotients lie halfway between integers, and any numbers; sums within 2^30 and beyond.
  const int32_t largest = one_in(2) ? 1 << 30 : INT32_MAX;
  const dmo_add_params params = {
    .input1 = { between(1 << 30, largest), one_in(2) ? 0 : between(-9, 0) },
    .input2 = { between(1 << 30, largest), one_in(2) ? 0 : between(-9, 0) },
    .output = { between(1 << 30, largest), one_in(4) ? between(-31, 0) : between(-17, -12) },
    .activation_min = range.min, .activation_max = range.max,
  };
  int16_t *const input1 = halves(count, INT16_MAX), *const input2 = halves(count, INT16_MAX);
  if (one_in(8)) {
    // The largest sums.
    for (int32_t i = 0; i < count; ++i) {
      input1[i] = input2[i] = one_in(2) ? INT16_MIN : INT16_MAX;
    }
  }
  int16_t *const expected = allocate(2 * count), *const actual = halves(count, INT16_MAX);
  dmo_add_s16(&params, count, input1, input2, expected);
  for (int32_t in_place = 0; in_place < 3; ++in_place) {
    int16_t *const memory = overlap_halves(in_place == 1 ? input1 : input2, count, count, 0);
    int16_t *const out = in_place == 0 ? actual : memory;
    expect_status(ARM_CMSIS_NN_SUCCESS,
                  arm_elementwise_add_s16(in_place == 1 ? memory : input1, in_place == 2 ? memory : input2, 7,
                                          params.input1.multiplier, params.input1.shift, 7, params.input2.multiplier,
                                          params.input2.shift, DMO_ADD_LEFT_SHIFT_S16, out, 7,
                                          params.output.multiplier, params.output.shift, range.min, range.max,
                                          count));
    compare_halves(in_place == 0 ? "wrong at" : "wrong in place at", expected, out, count);
  }
  end_case();
}

static void test_mul(void) {
  what = "arm_elementwise_mul_s16";
  const int32_t count = between(1, 40);
  const cmsis_nn_activation range = random_range();
  const dmo_mul_params params = {
    .output = { one_in(20) ? 0 : between(1 << 30, INT32_MAX), one_in(8) ? between(-31, 0) : between(-18, -12) },
    .activation_min = range.min, .activation_max = range.max,
  };
  const int16_t *const input2 = halves(count, INT16_MAX);
  int16_t *const memory = halves(count, INT16_MAX), *const expected = allocate(2 * count);
  dmo_mul_s16(&params, count, memory, input2, expected);
  expect_status(ARM_CMSIS_NN_SUCCESS,
                arm_elementwise_mul_s16(memory, input2, 7, 7, memory, 7, params.output.multiplier,
                                        params.output.shift, range.min, range.max, count));
  compare_halves("wrong in place at", expected, memory, count);
  end_case();
}

// Of each axis one input or both may have the extent 1.
static void test_extreme(bool maximum) {
  what = maximum ? "arm_maximum_s8" : "arm_minimum_s8";
  int32_t out[4], extents[2][4];
  for (int32_t i = 0; i < 4; ++i) {
    out[i] = between(1, i == 3 ? 9 : 4);
    const int32_t repeated = between(0, 4);
    extents[0][i] = repeated == 0 ? 1 : out[i];
    extents[1][i] = repeated == 1 ? 1 : out[i];
  }
  const bool alike = one_in(5);
  const cmsis_nn_dims out_dims = { out[0], out[1], out[2], out[3] };
  const cmsis_nn_dims dims1 = alike ? out_dims
                                    : (cmsis_nn_dims){ extents[0][0], extents[0][1], extents[0][2], extents[0][3] };
  const cmsis_nn_dims dims2 = one_in(8) ? (cmsis_nn_dims){ 1, 1, 1, 1 }
                              : alike   ? out_dims
                                        : (cmsis_nn_dims){ extents[1][0], extents[1][1], extents[1][2],
                                                           extents[1][3] };
  const dmo_shape shape1 = shape_of(&dims1), shape2 = shape_of(&dims2), out_shape = shape_of(&out_dims);
  const int8_t *const input1 = values(size_of(&dims1)), *const input2 = values(size_of(&dims2));
  int8_t *const expected = allocate(size_of(&out_dims)), *const actual = values(size_of(&out_dims));
  const cmsis_nn_context none = { NULL, 0 };
  arm_cmsis_nn_status (*const extreme)(const cmsis_nn_context *, const int8_t *, const cmsis_nn_dims *,
                                       const int8_t *, const cmsis_nn_dims *, int8_t *, const cmsis_nn_dims *) =
      maximum ? arm_maximum_s8 : arm_minimum_s8;
  (maximum ? dmo_maximum_s8 : dmo_minimum_s8)(&shape1, input1, &shape2, input2, &out_shape, expected);
  expect_status(ARM_CMSIS_NN_SUCCESS, extreme(&none, input1, &dims1, input2, &dims2, actual, &out_dims));
  compare("wrong at", expected, actual, size_of(&out_dims));
  // In place of an input that is not repeated.
  if (size_of(&dims1) == size_of(&out_dims)) {
    int8_t *const memory = overlap(input1, size_of(&dims1), size_of(&dims1), 0);
    expect_status(ARM_CMSIS_NN_SUCCESS, extreme(&none, memory, &dims1, input2, &dims2, memory, &out_dims));
    compare("wrong in place at", expected, memory, size_of(&out_dims));
  }
  if (size_of(&dims2) == size_of(&out_dims)) {
    int8_t *const memory = overlap(input2, size_of(&dims2), size_of(&dims2), 0);
    expect_status(ARM_CMSIS_NN_SUCCESS, extreme(&none, input1, &dims1, memory, &dims2, memory, &out_dims));
    compare("wrong in place at", expected, memory, size_of(&out_dims));
  }
  end_case();
}

// Tables of a function that falls, or rises, from one end to the other, and lies within 16 bits.
static int16_t *table(bool rises) {
  int16_t *const result = allocate(2 * DMO_TABLE_SIZE);
  int32_t value = 0;
  for (int32_t i = 0; i < DMO_TABLE_SIZE; ++i) {
    value = i == DMO_TABLE_SIZE - 1 ? INT16_MAX : value + between(0, 60);
    result[rises ? i : DMO_TABLE_SIZE - 1 - i] = (int16_t)value;
  }
  return result;
}

static void test_softmax_s16(void) {
  what = "arm_softmax_s16";
  const int32_t rows = between(1, 3), depth = between(1, 30);
  const int32_t multiplier = between(1 << 30, INT32_MAX), shift = between(-6, 3);
  const dmo_softmax_s16_params params = { { multiplier, shift } };
  const int16_t *const input = halves(rows * depth, INT16_MAX);
  int16_t *const expected = allocate(2 * rows * depth);
  int16_t *const memory = overlap_halves(input, rows * depth, rows * depth, 0);
  const cmsis_nn_softmax_lut_s16 tables = { table(true), table(false) };
  dmo_softmax_s16(&params, rows, depth, input, tables.exp_lut, tables.one_by_one_lut, expected);
  expect_status(ARM_CMSIS_NN_SUCCESS, arm_softmax_s16(memory, rows, depth, multiplier, shift, &tables, memory));
  compare_halves("wrong in place at", expected, memory, rows * depth);
  end_case();
}

static void test_softmax(void) {
  what = "arm_softmax_s8_s16";
  const int32_t rows = between(1, 3), depth = between(1, 30), count = rows * depth;
  const int32_t multiplier = between(1 << 30, INT32_MAX), shift = between(18, 26);
  const int32_t diff_min = -(int32_t)((INT64_C(31) << 26) >> shift);
  const dmo_softmax_params params = { { multiplier, shift }, diff_min };
  const int8_t *const input = values(count);
  int16_t *const expected = allocate(2 * count), *const actual = halves(count, INT16_MAX);
  dmo_softmax_s8_s16(&params, rows, depth, input, expected);
  arm_softmax_s8_s16(input, rows, depth, multiplier, shift, diff_min, actual);
  compare_halves("wrong at", expected, actual, count);
  what = "arm_softmax_u8";
  uint8_t *const expected8 = allocate(count), *const actual8 = allocate(count);
  memcpy(actual8, input, (size_t)count);
  dmo_softmax_u8(&params, rows, depth, actual8, expected8);
  arm_softmax_u8(actual8, rows, depth, multiplier, shift, diff_min, actual8);
  for (int32_t i = 0; i < count; ++i) {
    if (expected8[i] != actual8[i]) {
      fail("wrong in place at", (uint32_t)i);
    }
  }
  end_case();
}

static void test_relu(void) {
  what = "arm_relu_q15";
  const int32_t count = between(0, 40);
  int16_t *const data = halves(count, INT16_MAX), *const expected = allocate(2 * count);
  for (int32_t i = 0; i < count; ++i) {
    expected[i] = data[i] < 0 ? 0 : data[i];
  }
  arm_relu_q15(data, (uint16_t)count);
  compare_halves("wrong at", expected, data, count);
  end_case();
}

static void test_svdf(void) {
  what = "arm_svdf_state_s16_s8";
  const int32_t rank = between(1, 3), units = between(1, 5), filters = rank * units;
  const dmo_svdf_size size = { .batches = between(1, 2), .inputs = between(1, 12), .filters = filters, .rank = rank,
                               .memory = between(1, 9) };
  const int32_t steps = size.batches * filters * size.memory, outputs = size.batches * units;
  const dmo_svdf_params params = { .input_offset = between(-127, 128), .output_offset = between(-128, 127),
                                   .feature = { between(1 << 30, INT32_MAX), between(-12, 0) },
                                   .time = { between(1 << 30, INT32_MAX), between(-20, 0) } };
  const cmsis_nn_svdf_params vendor = { rank, -params.input_offset, params.output_offset, { INT16_MIN, INT16_MAX },
                                        { -128, 127 } };
  const cmsis_nn_per_tensor_quant_params in_quant = { params.feature.multiplier, params.feature.shift };
  const cmsis_nn_per_tensor_quant_params out_quant = { params.time.multiplier, params.time.shift };
  const cmsis_nn_dims in = { size.batches, size.inputs, 1, 1 }, state_dims = { size.batches, steps, 1, 1 };
  const cmsis_nn_dims feature_dims = { filters, size.inputs, 1, 1 }, time_dims = { filters, size.memory, 1, 1 };
  const cmsis_nn_dims bias_dims = { units, 1, 1, 1 }, out = { size.batches, units, 1, 1 };
  const int8_t *const input = values(size.batches * size.inputs), *const feature = values(filters * size.inputs);
  const int16_t *const time = halves(filters * size.memory, 1000); // sums of 27 products fit in 32 bits
  const int32_t *const bias = one_in(4) ? NULL : numbers(units, -50000, 50000);
  int16_t *const state = halves(steps, INT16_MAX), *const expected_state = overlap_halves(state, steps, 0, 0);
  int8_t *const expected = allocate(outputs);
  int32_t *const sums = allocate(dmo_svdf_s8_scratch_bytes(&size));
  dmo_svdf_s8_state_s16(&params, &size, input, feature, time, bias, expected_state, expected, sums);
  const cmsis_nn_context none = { NULL, 0 };
  int8_t *const shared = overlap(input, size.batches * size.inputs, outputs, 0);
  expect_status(ARM_CMSIS_NN_SUCCESS,
                arm_svdf_state_s16_s8(&none, &none, &vendor, &in_quant, &out_quant, &in, shared, &state_dims, state,
                                      &feature_dims, feature, &time_dims, time, &bias_dims, bias, &out, shared));
  compare("wrong in place at", expected, shared, outputs);
  compare_halves("wrong state at", expected_state, state, steps);
  end_case();
}

// Matrices of two inputs, either of which may be repeated along the outer axes.
typedef struct {
  cmsis_nn_dims lhs, rhs, out;
  cmsis_nn_bmm_params params;
  cmsis_nn_per_tensor_quant_params quant;
} product;

static product random_product(cmsis_nn_activation range, bool has_offsets) {
  const int32_t n = between(1, 3), h = between(1, 3), inner = between(1, 20);
  const int32_t rows = between(1, 5), columns = between(1, 9);
  const int32_t repeated = between(0, 5);
  return (product){
    .lhs = { repeated == 0 ? 1 : n, repeated == 1 ? 1 : h, rows, inner },
    .rhs = { repeated == 2 ? 1 : n, repeated == 3 ? 1 : h, columns, inner },
    .out = { n, h, rows, columns },
    .params = { false, false,
                { has_offsets ? between(-127, 128) : 0, has_offsets && one_in(2) ? between(-127, 128) : 0,
                  has_offsets ? between(-128, 127) : 0, range } },
    .quant = { between(1 << 30, INT32_MAX), has_offsets ? between(-14, 0) : between(-24, -8) },
  };
}

// Where the rows begin that make an element of the output.
typedef struct {
  int32_t lhs, rhs;
} row_pair;

static row_pair rows_of(const product *p, int32_t element) {
  const int32_t j = element % p->out.c, i = element / p->out.c % p->out.w;
  const int32_t h = element / p->out.c / p->out.w % p->out.h, n = element / p->out.c / p->out.w / p->out.h;
  const int32_t left = (n % p->lhs.n * p->lhs.h + h % p->lhs.h) * p->lhs.w + i;
  const int32_t right = (n % p->rhs.n * p->rhs.h + h % p->rhs.h) * p->rhs.w + j;
  return (row_pair){ left * p->lhs.c, right * p->rhs.c };
}

static void test_matmul_s8(void) {
  what = "arm_batch_matmul_s8";
  const product p = random_product((cmsis_nn_activation){ -128, between(-20, 127) }, true);
  const int8_t *const lhs = values(size_of(&p.lhs)), *const rhs = values(size_of(&p.rhs));
  int8_t *const expected = allocate(size_of(&p.out)), *const actual = values(size_of(&p.out));
  const cmsis_nn_fc_params *const fc = &p.params.fc_params;
  for (int32_t at = 0; at < size_of(&p.out); ++at) {
    const row_pair rows = rows_of(&p, at);
    int32_t sum = 0;
    for (int32_t k = 0; k < p.lhs.c; ++k) {
      sum += (lhs[rows.lhs + k] + fc->input_offset) * (rhs[rows.rhs + k] + fc->filter_offset);
    }
    expected[at] = (int8_t)dmo_clamp(dmo_requantize(sum, p.quant.multiplier, p.quant.shift) + fc->output_offset,
                                     fc->activation.min, fc->activation.max);
  }
  const cmsis_nn_context none = { NULL, 0 };
  expect_status(ARM_CMSIS_NN_SUCCESS,
                arm_batch_matmul_s8(&none, &p.params, &p.quant, &p.lhs, lhs, &p.rhs, rhs, &p.out, actual));
  compare("wrong at", expected, actual, size_of(&p.out));
  end_case();
}

static void test_matmul_s16(void) {
  what = "arm_batch_matmul_s16";
  const product p = random_product(random_range(), false);
  const int16_t *const lhs = halves(size_of(&p.lhs), INT16_MAX), *const rhs = halves(size_of(&p.rhs), INT16_MAX);
  int16_t *const expected = allocate(2 * size_of(&p.out)), *const actual = halves(size_of(&p.out), INT16_MAX);
  for (int32_t at = 0; at < size_of(&p.out); ++at) {
    const row_pair rows = rows_of(&p, at);
    int64_t sum = 0;
    for (int32_t k = 0; k < p.lhs.c; ++k) {
      sum += (int64_t)lhs[rows.lhs + k] * rhs[rows.rhs + k];
    }
    expected[at] = (int16_t)dmo_clamp(dmo_requantize_wide(sum, p.quant.multiplier, p.quant.shift),
                                      p.params.fc_params.activation.min, p.params.fc_params.activation.max);
  }
  const cmsis_nn_context none = { NULL, 0 };
  expect_status(ARM_CMSIS_NN_SUCCESS,
                arm_batch_matmul_s16(&none, &p.params, &p.quant, &p.lhs, lhs, &p.rhs, rhs, &p.out, actual));
  compare_halves("wrong at", expected, actual, size_of(&p.out));
  end_case();
}

// Arguments that are no case of a function.
static void test_errors(void) {
  what = "arguments";
  const cmsis_nn_context none = { NULL, 0 };
  const cmsis_nn_conv_params params = { .stride = { 1, 1 }, .dilation = { 1, 1 } };
  const cmsis_nn_dw_conv_params depthwise = { .ch_mult = 2, .stride = { 1, 1 }, .dilation = { 1, 1 } };
  int32_t multiplier[4] = { 1 << 30, 1 << 30, 1 << 30, 1 << 30 }, shift[4] = { -2, -2, -2, -2 };
  const cmsis_nn_per_channel_quant_params quant = { multiplier, shift };
  const cmsis_nn_dims in = { 1, 2, 2, 2 }, taps = { 2, 1, 1, 2 }, wide = { 1, 2, 2, 4 }, many = { 1, 16, 32, 2 };
  const cmsis_nn_bias_data bias = { NULL, false };
  int16_t input[16] = { 0 }, output[16];
  int8_t filter[4] = { 0 };
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_convolve_s16(&none, &params, &quant, &in, input, &taps, filter, &in, &bias,
                                                         &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_depthwise_conv_fast_s16(&none, &depthwise, &quant, &in, input, &taps,
                                                                    filter, &in, NULL, &wide, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_depthwise_conv_fast_s16(&none, &depthwise, &quant, &in, input, &many,
                                                                    filter, &in, NULL, &in, output));
  const cmsis_nn_pool_params pool = { .stride = { 1, 1 }, .padding = { 3, 0 } };
  const cmsis_nn_dims no_batch = { 0, 2, 2, 2 };
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_max_pool_s16(&none, &pool, &in, input, &taps, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_avgpool_s16(&none, &pool, &in, input, &taps, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_avgpool_s16(&none, &pool, &no_batch, input, &taps, &in, output));
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_maximum_s8(&none, filter, &in, filter, &wide, filter, &wide));
  const cmsis_nn_softmax_lut_s16 tables = { input, NULL };
  expect_status(ARM_CMSIS_NN_ARG_ERROR, arm_softmax_s16(input, 1, 1, 1 << 30, 0, &tables, output));
}

int main(void) {
  for (case_number = 0; case_number < CASES; ++case_number) {
    test_convolution(false);
    test_convolution(true);
    for (int32_t which = 0; which < 3; ++which) {
      test_depthwise(which);
    }
    test_fully_connected();
    test_pool(true);
    test_pool(false);
    test_add();
    test_mul();
    test_extreme(true);
    test_extreme(false);
    test_softmax_s16();
    test_softmax();
    test_relu();
    test_svdf();
    test_matmul_s8();
    test_matmul_s16();
  }
  test_errors();
  print_number(cases_run);
  semihost_print(failures == 0 ? " cases with 16 bits passed\n" : " cases with 16 bits, and some failed\n");
  return failures == 0 ? 0 : 1;
}
