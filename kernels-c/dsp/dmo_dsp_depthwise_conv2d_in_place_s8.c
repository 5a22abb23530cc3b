// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_dsp_depthwise_in_place.h"
#include "dsp.h"

#include <stddef.h>

// What all pixels of a channel share.
typedef struct {
  const dmo_conv2d_params *params;
  const dmo_shape *input_shape, *filter_shape;
  const int8_t *plane;   // of the input
  const int8_t *weights; // the channel's first
  int32_t channels, bias;
  dsp_range range;
  dsp_channel channel;
  bool exact;
} channel_layer;

DSP_INLINE int8_t finish(const channel_layer *layer, int32_t sum) {
  return (int8_t)(layer->exact ? dsp_requantize(DSP_EXACT, &layer->range, layer->channel, sum)
                               : dsp_requantize(DSP_CLAMP, &layer->range, layer->channel, 2 * sum));
}

// Any window.
static int8_t any_pixel(const channel_layer *layer, int32_t top, int32_t left) {
  const dmo_conv_geometry *g = &layer->params->geometry;
  const dmo_shape *in = layer->input_shape;
  int32_t sum = layer->bias;
  for (int32_t fy = 0; fy < layer->filter_shape->h; ++fy) {
    const int32_t y = top + fy * g->dilation_h;
    if (y < 0 || y >= in->h) {
      continue;
    }
    for (int32_t fx = 0; fx < layer->filter_shape->w; ++fx) {
      const int32_t x = left + fx * g->dilation_w;
      if (x < 0 || x >= in->w) {
        continue;
      }
      const int32_t weight = layer->weights[(fy * layer->filter_shape->w + fx) * layer->channels];
      sum += (layer->plane[y * in->w + x] + layer->params->input_offset) * weight;
    }
  }
  return finish(layer, sum);
}

// Three rows of three weights: the outer two, and the middle one.
typedef struct {
  uint32_t outer0, outer1, outer2;
  uint32_t middle0, middle1, middle2;
  int32_t start; // bias, and what the input's offset adds to each sum
} three_by_three;

static three_by_three make_three_by_three(const channel_layer *layer) {
  int32_t weight[9], sum = 0;
  for (int32_t i = 0; i < 9; ++i) {
    weight[i] = layer->weights[i * layer->channels];
    sum += weight[i];
  }
  return (three_by_three){
    .outer0 = dsp_pair(weight[0], weight[2]),
    .outer1 = dsp_pair(weight[3], weight[5]),
    .outer2 = dsp_pair(weight[6], weight[8]),
    .middle0 = (uint32_t)weight[1],
    .middle1 = (uint32_t)weight[4],
    .middle2 = (uint32_t)weight[7],
    .start = layer->bias + layer->params->input_offset * sum,
  };
}

DSP_INLINE int32_t add_row(uint32_t four, uint32_t outer, uint32_t middle, int32_t sum) {
  return dsp_multiply_low(dsp_odd(four), middle, dsp_multiply_pairs(dsp_even(four), outer, sum));
}

// Three bytes of a row of the plane; those outside are the byte that the offset makes 0.
static uint32_t gather_row(const channel_layer *layer, int32_t y, int32_t left) {
  const dmo_shape *in = layer->input_shape;
  const bool inside = y >= 0 && y < in->h;
  const int8_t *row = inside ? &layer->plane[y * in->w] : NULL;
  uint32_t word = 0;
  for (int32_t i = 0; i < 3; ++i) {
    const int32_t x = left + i;
    const int32_t value = inside && x >= 0 && x < in->w ? row[x] : -layer->params->input_offset;
    word |= (uint32_t)(uint8_t)value << (8 * i);
  }
  return word;
}

// One row of the output by windows of 3x3. Where they lie inside the input, with one byte behind each of their rows,
// these are loaded as words.
static void one_row(const channel_layer *layer, const three_by_three *weights, int32_t oy, int32_t columns,
                    int8_t *output) {
  // Own copies, which a store to the output cannot change.
  const channel_layer own = *layer;
  const three_by_three fast = *weights;
  const dmo_conv_geometry *g = &layer->params->geometry;
  const int32_t width = layer->input_shape->w, height = layer->input_shape->h;
  const int32_t top = oy * g->stride_h - g->pad_h;
  const int32_t stride = g->stride_w, pad = g->pad_w;
  const bool rows_inside = top >= 0 && top + 3 <= height;
  for (int32_t ox = 0; ox < columns; ++ox, output += own.channels) {
    const int32_t left = ox * stride - pad;
    uint32_t row0, row1, row2;
    if (rows_inside && left >= 0 && left + 3 <= width && (top + 2) * width + left + 4 <= height * width) {
      const int8_t *at = &own.plane[top * width + left];
      row0 = dsp_load4(at);
      row1 = dsp_load4(at + width);
      row2 = dsp_load4(at + 2 * width);
    } else {
      row0 = gather_row(layer, top, left);
      row1 = gather_row(layer, top + 1, left);
      row2 = gather_row(layer, top + 2, left);
    }
    int32_t sum = add_row(row0, fast.outer0, fast.middle0, fast.start);
    sum = add_row(row1, fast.outer1, fast.middle1, sum);
    sum = add_row(row2, fast.outer2, fast.middle2, sum);
    *output = finish(&own, sum);
  }
}

void dmo_dsp_depthwise_conv2d_in_place_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                          const dmo_shape *input_shape, const int8_t *input,
                                          const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                          const dmo_shape *output_shape, int8_t *output, int8_t *scratch) {
  const dmo_conv_geometry *g = &params->geometry;
  const int32_t channels = output_shape->c;
  const int32_t input_pixels = input_shape->h * input_shape->w;
  const int32_t row_bytes = output_shape->w * channels;
  // The byte that the offset makes 0 is one.
  const bool is_3x3 = filter_shape->h == 3 && filter_shape->w == 3 && g->dilation_h == 1 && g->dilation_w == 1 &&
                      params->input_offset > INT8_MIN;
  const dsp_range range = dsp_make_range(params->output_offset, params->activation_min, params->activation_max);
  // What saturates is clamped, too.
  const dsp_way way = dsp_choose_way(&range, channels, quant->multiplier, quant->shift, bias,
                                     filter_shape->h * filter_shape->w) == DSP_EXACT ? DSP_EXACT : DSP_CLAMP;
  for (int32_t b = 0; b < output_shape->n; ++b) {
    for (int32_t c = 0; c < channels; ++c) {
      const int8_t *loaded = input + b * input_pixels * channels + c;
      for (int32_t pixel = 0; pixel < input_pixels; ++pixel, loaded += channels) {
        scratch[pixel] = *loaded;
      }
      const channel_layer layer = {
        .params = params,
        .input_shape = input_shape,
        .filter_shape = filter_shape,
        .plane = scratch,
        .weights = filter + c,
        .channels = channels,
        .bias = bias == NULL ? 0 : bias[c],
        .range = range,
        .channel = dsp_make_channel(way, &range, quant->multiplier[c], quant->shift[c]),
        .exact = way == DSP_EXACT,
      };
      int8_t *const image = output + b * output_shape->h * row_bytes + c;
      if (is_3x3) {
        const three_by_three fast = make_three_by_three(&layer);
        for (int32_t oy = 0; oy < output_shape->h; ++oy) {
          one_row(&layer, &fast, oy, output_shape->w, image + oy * row_bytes);
        }
      } else {
        for (int32_t pixel = 0; pixel < output_shape->h * output_shape->w; ++pixel) {
          const int32_t oy = pixel / output_shape->w, ox = pixel % output_shape->w;
          image[pixel * channels] = any_pixel(&layer, oy * g->stride_h - g->pad_h, ox * g->stride_w - g->pad_w);
        }
      }
    }
  }
}
