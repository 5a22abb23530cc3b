// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Direct evaluation: what one element of a kernel's output must be, by the operator's definition. Slow, in 64-bit
// integers and doubles, and sharing no arithmetic and no loop with the kernels: tests and examples compare against it.
// `index` is the element's flat index in the output.
#ifndef ORACLE_H
#define ORACLE_H

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
} oracle_position;
oracle_position oracle_position_of(const dmo_shape *shape, int64_t index);
int64_t oracle_index(const dmo_shape *shape, int64_t n, int64_t h, int64_t w, int64_t c);
int64_t oracle_clamp(int64_t value, int64_t min, int64_t max);
double oracle_clamp_f64(double value, double min, double max);
int64_t oracle_divide_rounding(int64_t dividend, int64_t divisor); // to nearest, halves away from zero; divisor > 0
int64_t oracle_requantize(int64_t value, int32_t multiplier, int32_t shift);

// The part of one axis that a window covers: positions from first to last, every `step`, as input coordinates.
typedef struct {
  int64_t origin, first, last;
} oracle_window;
oracle_window oracle_window_of(int64_t output, int64_t stride, int64_t pad, int64_t taps, int64_t dilation,
                               int64_t input_extent);

int32_t oracle_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                         const dmo_shape *input_shape, const int8_t *input,
                         const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                         const dmo_shape *output_shape, int32_t index);
float oracle_conv2d_f32(const dmo_conv2d_f32_params *params,
                        const dmo_shape *input_shape, const float *input,
                        const dmo_shape *filter_shape, const float *filter, const float *bias,
                        const dmo_shape *output_shape, int32_t index);

int32_t oracle_depthwise_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                   const dmo_shape *input_shape, const int8_t *input,
                                   const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                   const dmo_shape *output_shape, int32_t index);
float oracle_depthwise_conv2d_f32(const dmo_conv2d_f32_params *params,
                                  const dmo_shape *input_shape, const float *input,
                                  const dmo_shape *filter_shape, const float *filter, const float *bias,
                                  const dmo_shape *output_shape, int32_t index);

int32_t oracle_fully_connected_s8(const dmo_fully_connected_params *params,
                                  const dmo_quant_per_tensor *quant, int32_t inputs, int32_t outputs,
                                  const int8_t *input, const int8_t *filter, const int32_t *bias, int32_t index);
float oracle_fully_connected_f32(const dmo_fully_connected_f32_params *params, int32_t inputs, int32_t outputs,
                                 const float *input, const float *filter, const float *bias, int32_t index);

int32_t oracle_matmul_s8(const dmo_matmul_size *size, const int8_t *a, const int8_t *b, int32_t index);
float oracle_matmul_f32(const dmo_matmul_size *size, const float *a, const float *b, int32_t index);

int32_t oracle_max_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                           const dmo_shape *output_shape, int32_t index);
float oracle_max_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                          const dmo_shape *output_shape, int32_t index);
int32_t oracle_avg_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                           const dmo_shape *output_shape, int32_t index);
float oracle_avg_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                          const dmo_shape *output_shape, int32_t index);
float oracle_l2_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                         const dmo_shape *output_shape, int32_t index);

int32_t oracle_relu_s8(const dmo_relu_params *params, const int8_t *input, int32_t index);
int32_t oracle_add_s8(const dmo_add_params *params, const int8_t *input1, const int8_t *input2, int32_t index);
int32_t oracle_mul_s8(const dmo_mul_params *params, const int8_t *input1, const int8_t *input2, int32_t index);

// The probability itself, not quantised. `input_scale` is the real value of one step of the input, beta included.
double oracle_softmax_s8(double input_scale, int32_t depth, const int8_t *input, int32_t index);
double oracle_softmax_f32(double beta, int32_t depth, const float *input, int32_t index);

// Index of the input element that an output element copies, or -1 for padding. For concat also which input it is.
int64_t oracle_pad_source(const dmo_padding *before, const dmo_shape *input_shape, const dmo_shape *output_shape,
                          int32_t index);
int64_t oracle_concat_source(dmo_axis axis, const dmo_shape *input_shapes, const dmo_shape *output_shape, int32_t index,
                             int32_t *input);

int32_t oracle_mean_s8(const dmo_mean_params *params, const dmo_shape *input_shape, const int8_t *input,
                       const dmo_shape *output_shape, int32_t index);
float oracle_mean_f32(const dmo_shape *input_shape, const float *input, const dmo_shape *output_shape, int32_t index);

#endif
