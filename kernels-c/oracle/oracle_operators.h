// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Direct evaluation, as in oracle.h, of the operators with 16-bit activations, of those that move, broadcast, reduce
// and resize, and of the recurrent ones. A function that ends in `_source` gives the flat index of the input element.
#ifndef ORACLE_OPERATORS_H
#define ORACLE_OPERATORS_H

#include "oracle.h"
#include "dmo_batched_matmul.h"
#include "dmo_broadcast.h"
#include "dmo_int16.h"
#include "dmo_lstm.h"
#include "dmo_move.h"
#include "dmo_reduce_axes.h"
#include "dmo_resize.h"
#include "dmo_svdf.h"
#include "dmo_transposed_conv.h"
#include "dmo_unary.h"

#include <stdbool.h>

int64_t oracle_divide_down(int64_t dividend, int64_t divisor); // rounded towards minus infinity; divisor > 0
int64_t oracle_requantize_wide(int64_t value, int32_t multiplier, int32_t shift);

int32_t oracle_conv2d_s16(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                          const dmo_shape *input_shape, const int16_t *input,
                          const dmo_shape *filter_shape, const int8_t *filter, const int64_t *bias,
                          const dmo_shape *output_shape, int32_t index);
int32_t oracle_depthwise_conv2d_s16(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                    const dmo_shape *input_shape, const int16_t *input,
                                    const dmo_shape *filter_shape, const int8_t *filter, const int64_t *bias,
                                    const dmo_shape *output_shape, int32_t index);
int32_t oracle_fully_connected_s16(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                                   int32_t inputs, int32_t outputs, const int16_t *input, const int8_t *filter,
                                   const int64_t *bias, int32_t index);
int32_t oracle_max_pool_s16(const dmo_pool_params *params, const dmo_shape *input_shape, const int16_t *input,
                            const dmo_shape *output_shape, int32_t index);
int32_t oracle_avg_pool_s16(const dmo_pool_params *params, const dmo_shape *input_shape, const int16_t *input,
                            const dmo_shape *output_shape, int32_t index);
int32_t oracle_add_s16(const dmo_add_params *params, const int16_t *input1, const int16_t *input2, int32_t index);
int32_t oracle_mul_s16(const dmo_mul_params *params, const int16_t *input1, const int16_t *input2, int32_t index);
int32_t oracle_relu_s16(const dmo_relu_params *params, const int16_t *input, int32_t index);
int32_t oracle_mean_s16(const dmo_mean_params *params, const dmo_shape *input_shape, const int16_t *input,
                        const dmo_shape *output_shape, int32_t index);
// By the tables, exactly.
int32_t oracle_softmax_s16(const dmo_softmax_s16_params *params, int32_t depth, const int16_t *input,
                           const int16_t *exp_table, const int16_t *reciprocal_table, int32_t index);

// What dmo_affine_params makes of a real number, before it is saturated; and the real results of the curves.
int64_t oracle_quantize(const dmo_affine_params *params, float value);
int64_t oracle_requantize_offset(const dmo_requantize_params *params, int32_t value);
double oracle_logistic(double x);
double oracle_hard_swish(double x);
int32_t oracle_hard_swish_s8(const dmo_hard_swish_params *params, const int8_t *input, int32_t index);
int32_t oracle_hard_swish_s16(const dmo_hard_swish_s16_params *params, const int16_t *input, int32_t index);
// `value` is the input element with the input's offset; the result has the output's, and is not yet saturated.
int64_t oracle_leaky_relu(const dmo_leaky_relu_params *params, int64_t value);

int64_t oracle_broadcast_source(const dmo_shape *input_shape, const dmo_shape *output_shape, int32_t index);
int32_t oracle_sub_s8(const dmo_add_params *params, int8_t value1, int8_t value2);

int32_t oracle_transposed_conv2d_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                    const dmo_shape *input_shape, const int8_t *input,
                                    const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                    const dmo_shape *output_shape, int32_t index);
int32_t oracle_transposed_conv2d_s16(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                     const dmo_shape *input_shape, const int16_t *input,
                                     const dmo_shape *filter_shape, const int8_t *filter, const int64_t *bias,
                                     const dmo_shape *output_shape, int32_t index);
float oracle_transposed_conv2d_f32(const dmo_conv2d_f32_params *params,
                                   const dmo_shape *input_shape, const float *input,
                                   const dmo_shape *filter_shape, const float *filter, const float *bias,
                                   const dmo_shape *output_shape, int32_t index);

int32_t oracle_batched_matmul_s8(const dmo_batched_matmul_params *params, const dmo_batched_matmul_size *size,
                                 const int8_t *a, const int8_t *b, int32_t index);
int32_t oracle_batched_matmul_s16(const dmo_batched_matmul_params *params, const dmo_batched_matmul_size *size,
                                  const int16_t *a, const int16_t *b, int32_t index);
float oracle_batched_matmul_f32(const dmo_batched_matmul_size *size, const float *a, const float *b, int32_t index);

int64_t oracle_space_to_batch_source(const dmo_batch_params *params, const dmo_shape *input_shape,
                                     const dmo_shape *output_shape, int32_t index); // -1 for padding
int64_t oracle_update_slice_source(const dmo_update_slice_size *size, const int64_t *begins, int32_t index); // -1: the input's
int64_t oracle_transpose_source(const dmo_transpose_params *params, const dmo_shape *input_shape,
                                const dmo_shape *output_shape, int32_t index);
int64_t oracle_strided_slice_source(const dmo_strided_slice_params *params, const dmo_shape *input_shape,
                                    const dmo_shape *output_shape, int32_t index);
int64_t oracle_space_to_depth_source(const dmo_block_params *block, const dmo_shape *input_shape,
                                     const dmo_shape *output_shape, int32_t index);
int64_t oracle_mirror_pad_source(const dmo_mirror_pad_params *params, const dmo_shape *input_shape,
                                 const dmo_shape *output_shape, int32_t index);

// Whether an input element contributes to an output element of a reduction.
bool oracle_reduces_to(const dmo_shape *input_shape, int64_t input_index, const dmo_shape *output_shape, int32_t index);

// The input coordinate of one axis. The exact one of nearest lies between both; they differ where single precision may
// fall on either side.
typedef struct {
  int64_t low, high;
} oracle_nearest;
oracle_nearest oracle_resize_nearest(const dmo_resize_params *params, int64_t output, int32_t input_extent,
                                     int32_t output_extent);
int32_t oracle_resize_bilinear_s8(const dmo_resize_params *params, const dmo_shape *input_shape, const int8_t *input,
                                  const dmo_shape *output_shape, int32_t index);
double oracle_resize_bilinear_f32(const dmo_resize_params *params, const dmo_shape *input_shape, const float *input,
                                  const dmo_shape *output_shape, int32_t index);

// One output element. `history` holds each batch's inputs of the last `memory` calls, oldest first:
// [memory, batches, inputs]. The state's range is that of `state_bits` bits; time_weights are given as 16 bit.
double oracle_svdf_f32(const dmo_svdf_size *size, const float *history, const float *feature_weights,
                       const float *time_weights, const float *bias, int32_t index);
int32_t oracle_svdf(const dmo_svdf_params *params, const dmo_svdf_size *size, int32_t state_bits,
                    const int8_t *history, const int8_t *feature_weights, const int16_t *time_weights,
                    const int32_t *bias, int32_t index);

// One step of one unit of one batch: the new cell and hidden state, by 64-bit arithmetic on the table.
// input, hidden: the step's input and the hidden state before it, of this batch.
typedef struct {
  int32_t cell, hidden;
} oracle_lstm_unit;
oracle_lstm_unit oracle_lstm(const dmo_lstm_params *params, const dmo_lstm_size *size, const int8_t *input,
                             const dmo_lstm_weights *weights, const uint16_t *sigmoid_table, const int8_t *hidden,
                             int16_t cell, int32_t unit);
oracle_lstm_unit oracle_lstm_s16(const dmo_lstm_params *params, const dmo_lstm_size *size, const int16_t *input,
                                 const dmo_lstm_weights_s16 *weights, const uint16_t *sigmoid_table,
                                 const int16_t *hidden, int16_t cell, int32_t unit);
int64_t oracle_lstm_sigmoid(const uint16_t *table, int64_t x);
int64_t oracle_lstm_tanh(const uint16_t *table, int64_t x, int32_t scale_power);

#endif
