// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle.h"

int32_t oracle_mean_s8(const dmo_mean_params *params, const dmo_shape *input_shape, const int8_t *input,
                       const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const int64_t count = (int64_t)input_shape->h * input_shape->w;
  int64_t sum = -count * params->input_zero_point;
  for (int64_t w = input_shape->w - 1; w >= 0; --w) {
    for (int64_t h = input_shape->h - 1; h >= 0; --h) {
      sum += input[oracle_index(input_shape, at.n, h, w, at.c)];
    }
  }
  const int64_t scaled = oracle_requantize(sum, params->output.multiplier, params->output.shift);
  return (int32_t)oracle_clamp(scaled + params->output_zero_point, -128, 127);
}

// The range of input coordinates that one output coordinate averages over.
typedef struct {
  int64_t first, end;
} range;

static range averaged(int64_t output, int32_t output_extent, int32_t input_extent) {
  return output_extent == 1 ? (range){ 0, input_extent } : (range){ output, output + 1 };
}

float oracle_mean_f32(const dmo_shape *input_shape, const float *input, const dmo_shape *output_shape, int32_t index) {
  const oracle_position at = oracle_position_of(output_shape, index);
  const range n = averaged(at.n, output_shape->n, input_shape->n);
  const range h = averaged(at.h, output_shape->h, input_shape->h);
  const range w = averaged(at.w, output_shape->w, input_shape->w);
  const range c = averaged(at.c, output_shape->c, input_shape->c);
  double sum = 0.0;
  for (int64_t ic = c.first; ic < c.end; ++ic) {
    for (int64_t iw = w.first; iw < w.end; ++iw) {
      for (int64_t ih = h.first; ih < h.end; ++ih) {
        for (int64_t in = n.first; in < n.end; ++in) {
          sum += (double)input[oracle_index(input_shape, in, ih, iw, ic)];
        }
      }
    }
  }
  const int64_t count = (n.end - n.first) * (h.end - h.first) * (w.end - w.first) * (c.end - c.first);
  return (float)(sum / (double)count);
}
