// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Kernels with 16-bit activations and 8-bit weights. Activations are symmetric: every zero point is 0, so the offsets
// in the parameters are 0, and the kernels do not read them. Activation ranges lie in [-32768, 32767]. Layouts, groups
// and loop orders are those of the 8-bit kernels of the same name. Output and inputs do not overlap unless a planner
// proved it safe; see dmo_conv.h.
#ifndef DMO_INT16_H
#define DMO_INT16_H

#include "dmo_broadcast.h"
#include "dmo_conv.h"
#include "dmo_elementwise.h"
#include "dmo_matmul.h"
#include "dmo_pool.h"
#include "dmo_reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

// A 64-bit sum times a ratio, of which the 15 leading bits of the multiplier are used, rounded once, halves up:
//   value * m / 2^15 * 2^shift, where m is multiplier / 2^16 to nearest, at most 32767.
// value is in [-2^47, 2^47), shift in [-31, 7], and the result must fit an int32_t.
static inline int32_t dmo_requantize_wide(int64_t value, int32_t multiplier, int32_t shift) {
  const int32_t leading = multiplier < INT32_C(0x7fff0000) ? (multiplier + (INT32_C(1) << 15)) >> 16 : 0x7fff;
  const int32_t right = 15 - shift;
  return (int32_t)((value * leading + (INT64_C(1) << (right - 1))) >> right);
}

// Convolution: output[b, oy, ox, oc] = clamp(requantize_wide_oc(bias[oc] + sum input * filter)).
// input [N, H, W, C], filter [O, H, W, I], output [N, H, W, O], bias [O] or NULL for none.
// Loop order: b, oy, ox, oc | fy, fx, ic; each output element is stored once, after its loads. Scratch: none.
void dmo_conv2d_s16(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                    const dmo_shape *input_shape, const int16_t *input,
                    const dmo_shape *filter_shape, const int8_t *filter, const int64_t *bias,
                    const dmo_shape *output_shape, int16_t *output);

// Depthwise convolution. input [N, H, W, C], filter [1, H, W, C * M], output [N, H, W, C * M], bias [C * M] or NULL.
// Loop order: b, oy, ox, ic, m | fy, fx; each output element is stored once, after its loads. Scratch: none.
void dmo_depthwise_conv2d_s16(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                              const dmo_shape *input_shape, const int16_t *input,
                              const dmo_shape *filter_shape, const int8_t *filter, const int64_t *bias,
                              const dmo_shape *output_shape, int16_t *output);

// Fully connected layer: output[b, o] = clamp(requantize_wide(bias[o] + sum input[b, i] * filter[o, i])).
// input [batches, inputs], filter [outputs, inputs], output [batches, outputs], bias [outputs] or NULL for none.
// Loop order: b, o | i; each output element is stored once, after its loads. Scratch: none.
void dmo_fully_connected_s16(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                             int32_t batches, int32_t inputs, int32_t outputs,
                             const int16_t *input, const int8_t *filter, const int64_t *bias, int16_t *output);

// Maximum, or average, of each window, clamped. The average is rounded to nearest, halves away from zero; a window has
// at most 2^15 taps.
// Loop order: b, oy, ox, c | fy, fx; each output element is stored once, after its loads. Scratch: none.
void dmo_max_pool_s16(const dmo_pool_params *params, const dmo_shape *input_shape, const int16_t *input,
                      const dmo_shape *output_shape, int16_t *output);
void dmo_avg_pool_s16(const dmo_pool_params *params, const dmo_shape *input_shape, const int16_t *input,
                      const dmo_shape *output_shape, int16_t *output);

// Element-wise, over the flat index; each output element is stored once, after its loads. Scratch: none.
//
// dmo_add_s16 keeps its inputs with 15 more bits in the common scale, so in its parameters `output` is common scale /
// 2^15 / output scale. dmo_relu_s16 and dmo_mul_s16 are as for 8 bit; a positive shift must keep the product in 32
// bits.
enum { DMO_ADD_LEFT_SHIFT_S16 = 15 };
void dmo_add_s16(const dmo_add_params *params, int32_t count, const int16_t *input1, const int16_t *input2,
                 int16_t *output);
void dmo_mul_s16(const dmo_mul_params *params, int32_t count, const int16_t *input1, const int16_t *input2,
                 int16_t *output);
void dmo_relu_s16(const dmo_relu_params *params, int32_t count, const int16_t *input, int16_t *output);

// The same with broadcasting, and differences; see dmo_broadcast.h.
void dmo_broadcast_add_s16(const dmo_add_params *params, const dmo_shape *input1_shape, const int16_t *input1,
                           const dmo_shape *input2_shape, const int16_t *input2,
                           const dmo_shape *output_shape, int16_t *output);
void dmo_broadcast_sub_s16(const dmo_add_params *params, const dmo_shape *input1_shape, const int16_t *input1,
                           const dmo_shape *input2_shape, const int16_t *input2,
                           const dmo_shape *output_shape, int16_t *output);
void dmo_broadcast_mul_s16(const dmo_mul_params *params, const dmo_shape *input1_shape, const int16_t *input1,
                           const dmo_shape *input2_shape, const int16_t *input2,
                           const dmo_shape *output_shape, int16_t *output);

// The input times multiplier / 2^shift, rounded to nearest, halves up, is in steps of 1 / 12288.
typedef struct {
  int32_t multiplier; // [1, 32767]
  int32_t shift;      // [0, 31)
} dmo_sigmoid_s16_params;

// 1 / (1 + exp(-x)) and tanh(x) with an output scale of 1/32768, by the table of dmo_lstm.h.
void dmo_logistic_s16(const dmo_sigmoid_s16_params *params, const uint16_t *table, int32_t count, const int16_t *input,
                      int16_t *output);
void dmo_tanh_s16(const dmo_sigmoid_s16_params *params, const uint16_t *table, int32_t count, const int16_t *input,
                  int16_t *output);

// A function on [-32768, 32767], sampled every 128 steps; in between, the samples are interpolated.
enum { DMO_TABLE_SIZE = 513 };

// input_beta is beta * input scale * 65535 / 10; the shift is at most 14.
typedef struct {
  dmo_quant_per_tensor input_beta;
} dmo_softmax_s16_params;

// Softmax: input and output [rows, depth], depth at most 65535; the output's scale is 1 / 32768.
// exp_table holds exp(x) for x from -10 to 0, its last entry being 32767; reciprocal_table holds 1 / (1 + x) for x from
// 0 to 1; both have DMO_TABLE_SIZE entries, at most 32767, and 32768 stands for 1.
// Loop order, for each row: a pass over the input for its maximum; a pass that loads the input, stores its exponential
// in the output and sums; a pass that loads the output and stores it times the sum's reciprocal. Scratch: none.
void dmo_softmax_s16(const dmo_softmax_s16_params *params, int32_t rows, int32_t depth, const int16_t *input,
                     const int16_t *exp_table, const int16_t *reciprocal_table, int16_t *output);

// Mean over height and width: output = saturate(requantize(sum input)); both zero points are 0.
// input [N, H, W, C], output [N, 1, 1, C]; H * W is at most 2^15.
// Loop order: b, c | h, w; each output element is stored once, after its loads. Scratch: none.
void dmo_mean_s16(const dmo_mean_params *params, const dmo_shape *input_shape, const int16_t *input,
                  const dmo_shape *output_shape, int16_t *output);

#ifdef __cplusplus
}
#endif

#endif
