// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Direct evaluation: what one element of a kernel's output must be, by the operator's definition. Slow, in 64-bit
// integers and doubles, and sharing no arithmetic and no loop with the kernels: tests and examples compare against it.
// `index` is the element's flat index in the output.
#ifndef DIRECT_H
#define DIRECT_H

#include "dmo_conv.h"
#include "dmo_elementwise.h"
#include "dmo_layout.h"
#include "dmo_matmul.h"
#include "dmo_pool.h"
#include "dmo_reduce.h"
#include "dmo_softmax.h"

#include <stdint.h>

// Building blocks.
typedef struct {
  int64_t n, h, w, c;
} direct_position;
direct_position direct_position_of(const dmo_shape *shape, int64_t index);
int64_t direct_index(const dmo_shape *shape, int64_t n, int64_t h, int64_t w, int64_t c);
int64_t direct_clamp(int64_t value, int64_t min, int64_t max);
double direct_clamp_f64(double value, double min, double max);
int64_t direct_divide_rounding(int64_t dividend, int64_t divisor); // to nearest, halves away from zero; divisor > 0
int64_t direct_requantize(int64_t value, int32_t multiplier, int32_t shift);

// The part of one axis that a window covers: positions from first to last, every `step`, as input coordinates.
typedef struct {
  int64_t origin, first, last;
} direct_window;
direct_window direct_window_of(int64_t output, int64_t stride, int64_t pad, int64_t taps, int64_t dilation,
                               int64_t input_extent);

int32_t direct_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                         const dmo_shape *input_shape, const int8_t *input,
                         const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                         const dmo_shape *output_shape, int32_t index);
float direct_conv2d_f32(const dmo_conv2d_f32_params *params,
                        const dmo_shape *input_shape, const float *input,
                        const dmo_shape *filter_shape, const float *filter, const float *bias,
                        const dmo_shape *output_shape, int32_t index);

int32_t direct_depthwise_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                   const dmo_shape *input_shape, const int8_t *input,
                                   const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                   const dmo_shape *output_shape, int32_t index);
float direct_depthwise_conv2d_f32(const dmo_conv2d_f32_params *params,
                                  const dmo_shape *input_shape, const float *input,
                                  const dmo_shape *filter_shape, const float *filter, const float *bias,
                                  const dmo_shape *output_shape, int32_t index);

int32_t direct_fully_connected_s8(const dmo_fully_connected_params *params,
                                  const dmo_quant_per_tensor *quant, int32_t inputs, int32_t outputs,
                                  const int8_t *input, const int8_t *filter, const int32_t *bias, int32_t index);
float direct_fully_connected_f32(const dmo_fully_connected_f32_params *params, int32_t inputs, int32_t outputs,
                                 const float *input, const float *filter, const float *bias, int32_t index);

int32_t direct_matmul_s8(const dmo_matmul_size *size, const int8_t *a, const int8_t *b, int32_t index);
float direct_matmul_f32(const dmo_matmul_size *size, const float *a, const float *b, int32_t index);

int32_t direct_max_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                           const dmo_shape *output_shape, int32_t index);
float direct_max_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                          const dmo_shape *output_shape, int32_t index);
int32_t direct_avg_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                           const dmo_shape *output_shape, int32_t index);
float direct_avg_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                          const dmo_shape *output_shape, int32_t index);

int32_t direct_relu_s8(const dmo_relu_params *params, const int8_t *input, int32_t index);
int32_t direct_add_s8(const dmo_add_params *params, const int8_t *input1, const int8_t *input2, int32_t index);
int32_t direct_mul_s8(const dmo_mul_params *params, const int8_t *input1, const int8_t *input2, int32_t index);

// The probability itself, not quantised. `input_scale` is the real value of one step of the input, beta included.
double direct_softmax_s8(double input_scale, int32_t depth, const int8_t *input, int32_t index);
double direct_softmax_f32(double beta, int32_t depth, const float *input, int32_t index);

// Index of the input element that an output element copies, or -1 for padding. For concat also which input it is.
int64_t direct_pad_source(const dmo_padding *before, const dmo_shape *input_shape, const dmo_shape *output_shape,
                          int32_t index);
int64_t direct_concat_source(dmo_axis axis, const dmo_shape *input_shapes, const dmo_shape *output_shape, int32_t index,
                             int32_t *input);

int32_t direct_mean_s8(const dmo_mean_params *params, const dmo_shape *input_shape, const int8_t *input,
                       const dmo_shape *output_shape, int32_t index);
float direct_mean_f32(const dmo_shape *input_shape, const float *input, const dmo_shape *output_shape, int32_t index);

#endif
