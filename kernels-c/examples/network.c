// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A small image classifier in one tensor arena: later layers reuse the memory of activations that are no longer needed.
#include "oracle.h"
#include "dmo_conv.h"
#include "dmo_matmul.h"
#include "dmo_pool.h"
#include "dmo_softmax.h"
#include "dmo_trace.h"
#include "example.h"

enum { CLASSES = 10 };

static const dmo_shape image_shape = { 1, 32, 32, 3 };
static const dmo_shape stem_shape = { 1, 16, 16, 8 }; // also the shape of the depthwise layer's output
static const dmo_shape pointwise_shape = { 1, 16, 16, 16 };
static const dmo_shape pooled_shape = { 1, 4, 4, 16 };

static const dmo_shape stem_filter_shape = { 8, 3, 3, 3 };
static const dmo_shape depthwise_filter_shape = { 1, 3, 3, 8 };
static const dmo_shape pointwise_filter_shape = { 16, 1, 1, 8 };

enum {
  IMAGE_BYTES = 32 * 32 * 3,
  STEM_BYTES = 16 * 16 * 8,
  POINTWISE_BYTES = 16 * 16 * 16,
  POOLED_BYTES = 4 * 4 * 16,
};

// Every activation's place in the arena.
enum {
  IMAGE = 0,
  STEM = IMAGE + IMAGE_BYTES,
  DEPTHWISE = 0,                       // the image is dead
  POINTWISE = DEPTHWISE + STEM_BYTES,  // the stem's output is dead
  POOLED = 0,                          // the depthwise layer's output is dead
  LOGITS = POOLED + POOLED_BYTES,
  PROBABILITIES = LOGITS + 16,
  ARENA_BYTES = POINTWISE + POINTWISE_BYTES,
};
static int8_t arena[ARENA_BYTES];

// Weights and quantisation.
static int8_t stem_filter[8 * 3 * 3 * 3], depthwise_filter[3 * 3 * 8], pointwise_filter[16 * 8];
static int8_t dense_filter[CLASSES * POOLED_BYTES];
static int32_t bias[16], multiplier[16], stem_shift[16], depthwise_shift[16], pointwise_shift[16];

static const dmo_conv2d_params stem_params = {
  .geometry = { .stride_h = 2, .stride_w = 2, .dilation_h = 1, .dilation_w = 1 },
  .input_offset = 1,
  .output_offset = -8,
  .activation_min = -128,
  .activation_max = 127,
};
static const dmo_conv2d_params depthwise_params = {
  .geometry = { .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .pad_h = 1, .pad_w = 1 },
  .input_offset = 8,
  .output_offset = 3,
  .activation_min = -128,
  .activation_max = 127,
};
static const dmo_conv2d_params pointwise_params = {
  .geometry = { .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 },
  .input_offset = -3,
  .output_offset = 0,
  .activation_min = -128,
  .activation_max = 127,
};
static const dmo_pool_params pool_params = {
  .geometry = { .filter_h = 4, .filter_w = 4, .stride_h = 4, .stride_w = 4 },
  .activation_min = -128,
  .activation_max = 127,
};
static const dmo_fully_connected_params dense_params = {
  .output_offset = 0,
  .activation_min = -128,
  .activation_max = 127,
};
static const dmo_quant_per_tensor dense_quant = { 1431655765, -8 };

// A step of the logits is 1/16: 2^26 / 16 = 2^30 / 2^31 * 2^23, and floor(31 * 2^26 / 2^23) = 248.
static const double logits_scale = 1.0 / 16.0;
static const dmo_softmax_params softmax_params = { .input_beta = { INT32_C(1) << 30, 23 }, .diff_min = -248 };

static const dmo_quant_per_channel stem_quant = { multiplier, stem_shift };
static const dmo_quant_per_channel depthwise_quant = { multiplier, depthwise_shift };
static const dmo_quant_per_channel pointwise_quant = { multiplier, pointwise_shift };

static void run_stem(const int8_t *input, int8_t *output) {
  dmo_conv2d_s8(&stem_params, &stem_quant, &image_shape, input, &stem_filter_shape, stem_filter, bias, &stem_shape,
                output);
}

static double expect_stem(const int8_t *input, int32_t i) {
  return oracle_conv2d_s8(&stem_params, &stem_quant, &image_shape, input, &stem_filter_shape, stem_filter, bias,
                          &stem_shape, i);
}

static void run_depthwise(const int8_t *input, int8_t *output) {
  dmo_depthwise_conv2d_s8(&depthwise_params, &depthwise_quant, &stem_shape, input, &depthwise_filter_shape,
                          depthwise_filter, bias, &stem_shape, output);
}

static double expect_depthwise(const int8_t *input, int32_t i) {
  return oracle_depthwise_conv2d_s8(&depthwise_params, &depthwise_quant, &stem_shape, input, &depthwise_filter_shape,
                                    depthwise_filter, bias, &stem_shape, i);
}

static void run_pointwise(const int8_t *input, int8_t *output) {
  dmo_conv2d_s8(&pointwise_params, &pointwise_quant, &stem_shape, input, &pointwise_filter_shape, pointwise_filter,
                bias, &pointwise_shape, output);
}

static double expect_pointwise(const int8_t *input, int32_t i) {
  return oracle_conv2d_s8(&pointwise_params, &pointwise_quant, &stem_shape, input, &pointwise_filter_shape,
                          pointwise_filter, bias, &pointwise_shape, i);
}

static void run_pool(const int8_t *input, int8_t *output) {
  dmo_avg_pool_s8(&pool_params, &pointwise_shape, input, &pooled_shape, output);
}

static double expect_pool(const int8_t *input, int32_t i) {
  return oracle_avg_pool_s8(&pool_params, &pointwise_shape, input, &pooled_shape, i);
}

static void run_dense(const int8_t *input, int8_t *output) {
  dmo_fully_connected_s8(&dense_params, &dense_quant, 1, POOLED_BYTES, CLASSES, input, dense_filter, bias, output);
}

static double expect_dense(const int8_t *input, int32_t i) {
  return oracle_fully_connected_s8(&dense_params, &dense_quant, POOLED_BYTES, CLASSES, input, dense_filter, bias, i);
}

static void run_softmax(const int8_t *input, int8_t *output) {
  dmo_softmax_s8(&softmax_params, 1, CLASSES, input, output);
}

static double expect_softmax(const int8_t *input, int32_t i) {
  const double exact = oracle_softmax_s8(logits_scale, CLASSES, input, i) * 256.0 - 128.0;
  return oracle_clamp_f64(exact, -128.0, 127.0);
}

typedef struct {
  const char *name, *op;
  int32_t input, input_bytes;   // in the arena
  int32_t output, output_bytes; // in the arena
  int8_t *separate_output;      // outside
  void (*run)(const int8_t *input, int8_t *output);
  double (*expect)(const int8_t *input, int32_t index);
  double tolerance; // in steps of the output
} layer;

// The same activations, each in a buffer of its own.
static int8_t separate_image[IMAGE_BYTES], separate_stem[STEM_BYTES], separate_depthwise[STEM_BYTES];
static int8_t separate_pointwise[POINTWISE_BYTES], separate_pooled[POOLED_BYTES], separate_logits[CLASSES];
static int8_t separate_probabilities[CLASSES];

static const layer layers[] = {
  { "stem", "conv2d", IMAGE, IMAGE_BYTES, STEM, STEM_BYTES, separate_stem, run_stem, expect_stem, 0.0 },
  { "depthwise", "depthwise_conv2d", STEM, STEM_BYTES, DEPTHWISE, STEM_BYTES, separate_depthwise, run_depthwise,
    expect_depthwise, 0.0 },
  { "pointwise", "conv2d", DEPTHWISE, STEM_BYTES, POINTWISE, POINTWISE_BYTES, separate_pointwise, run_pointwise,
    expect_pointwise, 0.0 },
  { "pool", "avg_pool", POINTWISE, POINTWISE_BYTES, POOLED, POOLED_BYTES, separate_pooled, run_pool, expect_pool, 0.0 },
  { "dense", "fully_connected", POOLED, POOLED_BYTES, LOGITS, CLASSES, separate_logits, run_dense, expect_dense, 0.0 },
  { "softmax", "softmax", LOGITS, CLASSES, PROBABILITIES, CLASSES, separate_probabilities, run_softmax, expect_softmax,
    1.0 },
};

static void make_weights(void) {
  fill_s8(stem_filter, COUNT(stem_filter), 1);
  fill_s8(depthwise_filter, COUNT(depthwise_filter), 2);
  fill_s8(pointwise_filter, COUNT(pointwise_filter), 3);
  fill_s8(dense_filter, COUNT(dense_filter), 4);
  fill_bias(bias, COUNT(bias), 5);
  fill_multipliers(multiplier, COUNT(multiplier), 6);
  fill_shifts(stem_shift, COUNT(stem_shift), 7, -8);
  fill_shifts(depthwise_shift, COUNT(depthwise_shift), 8, -7);
  fill_shifts(pointwise_shift, COUNT(pointwise_shift), 9, -7);
}

static void run_in_arena(void) {
  for (uint32_t i = 0; i < COUNT(layers); ++i) {
    const layer *l = &layers[i];
    const dmo_buffer buffers[] = {
      DMO_BUFFER("input", DMO_INPUT, DMO_INT8, &arena[l->input], l->input_bytes),
      DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, &arena[l->output], l->output_bytes),
    };
    dmo_layer_begin(l->name, l->op, buffers, COUNT(buffers));
    l->run(&arena[l->input], &arena[l->output]);
    dmo_layer_end();
  }
}

// Runs and checks each layer outside the arena.
static int run_separately(void) {
  const int8_t *input = separate_image;
  for (uint32_t n = 0; n < COUNT(layers); ++n) {
    const layer *l = &layers[n];
    l->run(input, l->separate_output);
    for (int32_t i = 0; i < l->output_bytes; ++i) {
      const double expected = l->expect(input, i);
      const double error = (double)l->separate_output[i] - expected;
      if (error > l->tolerance || error < -l->tolerance) {
        return wrong_s32(l->name, i, (int32_t)expected, l->separate_output[i]);
      }
    }
    input = l->separate_output;
  }
  return 0;
}

static int compare_probabilities(void) {
  for (int32_t i = 0; i < CLASSES; ++i) {
    if (arena[PROBABILITIES + i] != separate_probabilities[i]) {
      return wrong_s32("network in its arena", i, separate_probabilities[i], arena[PROBABILITIES + i]);
    }
  }
  return 0;
}

int main(void) {
  make_weights();
  fill_s8(&arena[IMAGE], IMAGE_BYTES, 10);
  fill_s8(separate_image, IMAGE_BYTES, 10);
  run_in_arena();
  return run_separately() || compare_probabilities();
}
