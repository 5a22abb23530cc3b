// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The functions of the CMSIS-NN interface, version 7.0.0, that this library implements for the DSP extension of
// Armv7E-M: here those with 8-bit activations and weights, in arm_nnfunctions_s4.h those with weights of 4 bits, in
// arm_nnfunctions_s16.h those with 16-bit activations, and the 8-bit ones that take inputs of two shapes, in
// arm_nnfunctions_lstm.h those for LSTMs. Names, arguments and return codes are those of the interface, so that the real
// library can take the place of this one; code and contracts are our own.
//
// Other versions: 6.0.0 has neither upscale_dims in arm_convolve_s8 nor arm_pad_s8 and arm_transpose_s8; the rest is
// the same. Libraries derived from CMSIS-NN whose convolutions take a weight_sum_ctx have another interface.
//
// Arithmetic: bit-exact with the reference kernels of this repository (dmo_*_s8), which round twice; see
// dmo_quantize.h. Tensors are dense, int8 and [N, H, W, C]; multipliers are at least 0.
//
// Scratch: ctx->buf holds at least as many bytes as the function's get_buffer_size says, is aligned to 4 bytes and
// overlaps neither input nor output. Where the size is 0, ctx->buf may be NULL. A function that has no get_buffer_size
// needs no scratch. Nothing is kept in the scratch from one call to the next. The sizes are the library's own: 7.0.0
// itself asks for others. Convolutions take about 1 KiB of stack.
//
// Order of loads and stores. The input starts S bytes above the output, that is at output + S; S is safe when nothing
// is stored over an input byte that is loaded later, and O_s = output bytes - S. Each function says which S is the
// least one from which on all are safe, when compiled for a CPU with the DSP extension. In these formulas I and O are
// the channels of input and output, N the number of output pixels of all batches, IB1 and OB1 the bytes of input and
// output for one batch, t(q) the offset in its batch of the first input byte that output pixel q (counted within its
// batch) or a later one of that batch loads, and floor4(x) is x rounded down to a multiple of 4. S is never below 0,
// and O_s never above the bytes of the input.
//
// Output and inputs do not overlap unless a planner proved it safe for the library as it is compiled: the order below
// is what the code does, but only a trace proves it.
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include "arm_nn_types.h"
#include "arm_nnfunctions_lstm.h"
#include "arm_nnfunctions_s16.h"
#include "arm_nnfunctions_s4.h"

#ifdef __cplusplus
extern "C" {
#endif

// Convolutions.
//
// input [N, H, W, C], filter [O, H, W, I], bias [O] or NULL, output [N, H, W, O]. The output's shape decides how many
// pixels are computed; rows and columns before the input are params->padding, those after it follow.

// Any convolution, grouped as well (C is a multiple of I, and O of C / I). upscale_dims is for transposed convolutions:
// NULL, or height and width 1; else ARM_CMSIS_NN_NO_IMPL_ERROR.
// Order: batch, blocks of 4 consecutive output pixels | the patches of the block are copied to the scratch, then for
// each output channel its filter is loaded once and 4 outputs are stored.
// S = max over batches b and pixels q of b * max(0, OB1 - IB1) + floor4(q) * O - t(q): smaller than the reference
// kernel's. Grouped: for each group in turn its part of the patches is copied and its outputs are stored, so later
// groups load what is O bytes further behind; trace it.
// Scratch: 8 bytes for each weight of one filter, their number rounded up to a multiple of 4, and 1 byte more each
// unless I is a multiple of 4 or the filter is 1x1.
arm_cmsis_nn_status arm_convolve_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                    const cmsis_nn_per_channel_quant_params *quant_params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                    const cmsis_nn_dims *upscale_dims, const cmsis_nn_dims *output_dims,
                                    int8_t *output_data);
int32_t arm_convolve_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);

// Calls the function below or above that suits the layer: arm_convolve_1x1_s8_fast for 1x1 without stride, padding and
// groups, else arm_convolve_s8.
arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                            const cmsis_nn_per_channel_quant_params *quant_params,
                                            const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                            const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                            const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                            const cmsis_nn_dims *output_dims, int8_t *output_data);
int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *conv_params,
                                                const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                const cmsis_nn_dims *output_dims);

// 1x1, stride 1, no padding; else ARM_CMSIS_NN_ARG_ERROR. There are two, one in each library:
//
// libdsp: pixels outside. Order: blocks of 4 pixels | their input is copied to the scratch, then for each output
// channel its filter is loaded once and 4 outputs are stored.
//   S = floor4(N - 1) * max(0, O - I), so that O_s is all bytes of the smaller of input and output.
// libdsp-channels-outside: as in CMSIS-NN compiled by GCC. Order: blocks of 4 output channels | their filters are
// copied to the scratch, then for each pixel its input is loaded and 4 outputs are stored.
//   S = (N - 1) * O + floor4(O - 1) if O > 4: O_s is 1 to 4 bytes. S = (N - 1) * max(0, O - I) if O <= 4.
//
// Scratch: 8 bytes for each input channel, their number rounded up to a multiple of 4; in libdsp-channels-outside 64
// more.
arm_cmsis_nn_status arm_convolve_1x1_s8_fast(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                             const cmsis_nn_per_channel_quant_params *quant_params,
                                             const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                             const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                             const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                             const cmsis_nn_dims *output_dims, int8_t *output_data);
int32_t arm_convolve_1x1_s8_fast_get_buffer_size(const cmsis_nn_dims *input_dims);

// 1x1 with any stride, no padding; else ARM_CMSIS_NN_ARG_ERROR. Slower than arm_convolve_s8, but without scratch.
// Order: batch, pixel, blocks of 4 output channels | input channels; 4 outputs are stored after the block's loads.
// S = max over b and q of b * max(0, OB1 - IB1) + q * O + floor4(O - 1) - t(q).
arm_cmsis_nn_status arm_convolve_1x1_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                        const cmsis_nn_per_channel_quant_params *quant_params,
                                        const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                        const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                        const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                        const cmsis_nn_dims *output_dims, int8_t *output_data);

// A convolution along one row: input, filter and output have height 1, dilation 1, no padding above, no groups; else
// ARM_CMSIS_NN_ARG_ERROR. Order, S and scratch are those of arm_convolve_s8.
arm_cmsis_nn_status arm_convolve_1_x_n_s8(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                          const cmsis_nn_per_channel_quant_params *quant_params,
                                          const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                          const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                          const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                          const cmsis_nn_dims *output_dims, int8_t *output_data);
int32_t arm_convolve_1_x_n_s8_get_buffer_size(const cmsis_nn_conv_params *conv_params,
                                              const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                              const cmsis_nn_dims *output_dims);

// Depthwise convolutions.
//
// input [N, H, W, C], filter [1, H, W, C * ch_mult], bias [C * ch_mult] or NULL, output [N, H, W, C * ch_mult].
// Order of all of them: batch, pixel, blocks of 4 output channels | fy, fx; the outputs of a block are stored after its
// loads. A block of more than one input channel exists only where ch_mult is 1. With a single input channel, a filter
// of at most 80 taps, a stride of at most 4 along a row and no dilation along it: batch, blocks of 4 pixels of a row;
// the outputs of a block are stored after its loads.
// S, for ch_mult = 1: max over b and q of b * max(0, OB1 - IB1) + q * O - t(q), as the reference kernel's. For
// ch_mult > 1 it is at most the reference kernel's.

// Any stride, dilation and multiplier.
arm_cmsis_nn_status arm_depthwise_conv_s8(const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
                                          const cmsis_nn_per_channel_quant_params *quant_params,
                                          const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                          const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                          const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                          const cmsis_nn_dims *output_dims, int8_t *output_data);

// ch_mult 1; else ARM_CMSIS_NN_ARG_ERROR. The scratch is empty: the size is 0.
arm_cmsis_nn_status arm_depthwise_conv_s8_opt(const cmsis_nn_context *ctx,
                                              const cmsis_nn_dw_conv_params *dw_conv_params,
                                              const cmsis_nn_per_channel_quant_params *quant_params,
                                              const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                              const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                              const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                              const cmsis_nn_dims *output_dims, int8_t *output_data);
int32_t arm_depthwise_conv_s8_opt_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);

// ch_mult 1, filter 3x3, dilation 1, at most one column of padding; else ARM_CMSIS_NN_ARG_ERROR.
arm_cmsis_nn_status arm_depthwise_conv_3x3_s8(const cmsis_nn_context *ctx,
                                              const cmsis_nn_dw_conv_params *dw_conv_params,
                                              const cmsis_nn_per_channel_quant_params *quant_params,
                                              const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                              const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                              const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                              const cmsis_nn_dims *output_dims, int8_t *output_data);

// Calls the one of the three that suits the layer. The size is 0.
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context *ctx,
                                                  const cmsis_nn_dw_conv_params *dw_conv_params,
                                                  const cmsis_nn_per_channel_quant_params *quant_params,
                                                  const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                                  const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                  const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                                  const cmsis_nn_dims *output_dims, int8_t *output_data);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                      const cmsis_nn_dims *input_dims,
                                                      const cmsis_nn_dims *filter_dims,
                                                      const cmsis_nn_dims *output_dims);

// Transposed convolution, as dmo_transposed_conv.h defines it. filter [O, H, W, I], output [N, H, W, O].
// Order: batch, blocks of 4 consecutive output pixels | the input that meets the block's windows is copied to the
// scratch, then for each output channel its filter is loaded once and 4 outputs are stored. S follows from it as for
// arm_convolve_s8.
// Scratch: 9 bytes for each weight of one filter, their number rounded up to a multiple of 4. The other
// scratch, for a filter that is reversed, is empty: its size is 0, and output_ctx is not used.
arm_cmsis_nn_status arm_transpose_conv_s8(const cmsis_nn_context *ctx, const cmsis_nn_context *output_ctx,
                                          const cmsis_nn_transpose_conv_params *transpose_conv_params,
                                          const cmsis_nn_per_channel_quant_params *quant_params,
                                          const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                          const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                          const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                          const cmsis_nn_dims *output_dims, int8_t *output_data);
int32_t arm_transpose_conv_s8_get_buffer_size(const cmsis_nn_transpose_conv_params *transpose_conv_params,
                                              const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                              const cmsis_nn_dims *out_dims);
int32_t arm_transpose_conv_s8_get_reverse_conv_buffer_size(
    const cmsis_nn_transpose_conv_params *transpose_conv_params, const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims);

// The same.
arm_cmsis_nn_status arm_transpose_conv_wrapper_s8(const cmsis_nn_context *ctx,
                                                  const cmsis_nn_context *reverse_conv_ctx,
                                                  const cmsis_nn_transpose_conv_params *transpose_conv_params,
                                                  const cmsis_nn_per_channel_quant_params *quant_params,
                                                  const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                                  const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                  const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                                  const cmsis_nn_dims *output_dims, int8_t *output_data);

// Fully connected layer.
//
// input: input_dims->n batches of filter_dims->n values; filter [filter_dims->c, filter_dims->n]; bias [filter_dims->c]
// or NULL; output: input_dims->n batches of output_dims->c = filter_dims->c values. There are two, one in each library;
// with A values in and O out of a batch, and B batches:
//
// libdsp: order batch, blocks of 4 outputs | input values. S = (B - 1) * max(0, O - A) + floor4(O - 1).
// libdsp-channels-outside: order blocks of 4 outputs, batch | input values.
//   S = (B - 1) * O + floor4(O - 1) if O > 4, else (B - 1) * max(0, O - A).
// With one batch they are the same: O_s is 1 to 4 bytes.
//
// The size is 0, and code that fills ctx->buf with sums of weights where the size is not 0 does not do so.
arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
                                           const cmsis_nn_per_tensor_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                           const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                           const cmsis_nn_dims *output_dims, int8_t *output_data);
int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims);

// The same with a multiplier and a shift for each output. Order, S and size are those of arm_fully_connected_s8.
arm_cmsis_nn_status arm_fully_connected_per_channel_s8(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
                                                       const cmsis_nn_per_channel_quant_params *quant_params,
                                                       const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                                       const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                       const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                                       const cmsis_nn_dims *output_dims, int8_t *output_data);

// Pooling. input [N, H, W, C], output [N, H, W, C]; only height and width of filter_dims count. A window that lies
// wholly outside the input is an ARM_CMSIS_NN_ARG_ERROR.
// Order: batch, pixel, blocks of 4 channels | fy, fx; 4 outputs are stored after their loads. S is the reference
// kernel's: max over b and q of b * max(0, OB1 - IB1) + q * O - t(q). The size is 0.
arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                    const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                    int8_t *output_data);
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                   const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                   int8_t *output_data);
int32_t arm_avgpool_s8_get_buffer_size(const int dim_dst_width, const int ch_src);

// Softmax over rows, by dmo_softmax_s8: its ranges, order and S = 0.
void arm_softmax_s8(const int8_t *input, const int32_t num_rows, const int32_t row_size, const int32_t mult,
                    const int32_t shift, const int32_t diff_min, int8_t *output);

// Element-wise. Order: upwards in blocks of 4; 4 outputs are stored after their loads. S = 0.
//
// As dmo_add_s8; left_shift is what it calls DMO_ADD_LEFT_SHIFT, at most 20. No shift is above 0.
arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *input_1_vect, const int8_t *input_2_vect,
                                           const int32_t input_1_offset, const int32_t input_1_mult,
                                           const int32_t input_1_shift, const int32_t input_2_offset,
                                           const int32_t input_2_mult, const int32_t input_2_shift,
                                           const int32_t left_shift, int8_t *output, const int32_t out_offset,
                                           const int32_t out_mult, const int32_t out_shift,
                                           const int32_t out_activation_min, const int32_t out_activation_max,
                                           const int32_t block_size);
// As dmo_mul_s8.
arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *input_1_vect, const int8_t *input_2_vect,
                                           const int32_t input_1_offset, const int32_t input_2_offset,
                                           int8_t *output, const int32_t out_offset, const int32_t out_mult,
                                           const int32_t out_shift, const int32_t out_activation_min,
                                           const int32_t out_activation_max, const int32_t block_size);

// In place, upwards: data[i] = max(0, data[i]), for relu6 also at most 6. They know nothing of scales and zero points.
void arm_relu_q7(int8_t *data, uint16_t size);
void arm_relu6_s8(int8_t *data, uint16_t size);

// Concatenation: copies one input to its place in the output, by memcpy, which promises nothing about its order.
// x, y, z and w are width, height, channels and batch, in a layout where x varies fastest; offset_* counts elements
// along the axis.
void arm_concatenation_s8_x(const int8_t *input, const uint16_t input_x, const uint16_t input_y,
                            const uint16_t input_z, const uint16_t input_w, int8_t *output, const uint16_t output_x,
                            const uint32_t offset_x);
void arm_concatenation_s8_y(const int8_t *input, const uint16_t input_x, const uint16_t input_y,
                            const uint16_t input_z, const uint16_t input_w, int8_t *output, const uint16_t output_y,
                            const uint32_t offset_y);
void arm_concatenation_s8_z(const int8_t *input, const uint16_t input_x, const uint16_t input_y,
                            const uint16_t input_z, const uint16_t input_w, int8_t *output, const uint16_t output_z,
                            const uint32_t offset_z);
void arm_concatenation_s8_w(const int8_t *input, const uint16_t input_x, const uint16_t input_y,
                            const uint16_t input_z, const uint16_t input_w, int8_t *output, const uint32_t offset_w);

// One memcpy, left out where output == input.
void arm_reshape_s8(const int8_t *input, int8_t *output, const uint32_t total_size);

// Surrounds the input by pad_value. Order: the output upwards; the rows of the input, C * W bytes where neither W nor C
// is padded, else C bytes, by memcpy.
arm_cmsis_nn_status arm_pad_s8(const int8_t *input, int8_t *output, const int8_t pad_value,
                               const cmsis_nn_dims *input_size, const cmsis_nn_dims *pre_pad,
                               const cmsis_nn_dims *post_pad);

// The first num_dims fields of the dims are the axes, 1 to 4 of them; a permutation that is none is an
// ARM_CMSIS_NN_ARG_ERROR. Order: the output upwards, element by element.
arm_cmsis_nn_status arm_transpose_s8(const int8_t *input_data, int8_t *const output_data,
                                     const cmsis_nn_dims *const input_dims, const cmsis_nn_dims *const output_dims,
                                     const cmsis_nn_transpose_params *const transpose_params);

// SVDF with 8-bit state. B = input_dims->n batches of A = input_dims->h values, F = weights_feature_dims->n filters of
// A weights, M = weights_time_dims->h steps of memory, F / rank outputs. state [B, F, M], weights_time [F, M].
//
//   state[b, f, :] moves one step towards 0; state[b, f, M - 1] = clamp_in(requantize_in(
//                                            sum (input[b, i] + input_offset) * weights_feature[f, i]))
//   output[b, u] = clamp_out(output_offset + requantize_out(bias[u] + sum over the rank filters f of u and over m of
//                            state[b, f, m] * weights_time[f, m]))
//
// The input is read before the output is stored: S = 0. State is an input that the layer stores to and that must live
// until the next call. The size is 0; input_ctx and output_ctx are not used.
arm_cmsis_nn_status arm_svdf_s8(const cmsis_nn_context *ctx, const cmsis_nn_context *input_ctx,
                                const cmsis_nn_context *output_ctx, const cmsis_nn_svdf_params *svdf_params,
                                const cmsis_nn_per_tensor_quant_params *input_quant_params,
                                const cmsis_nn_per_tensor_quant_params *output_quant_params,
                                const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                const cmsis_nn_dims *state_dims, int8_t *state_data,
                                const cmsis_nn_dims *weights_feature_dims, const int8_t *weights_feature_data,
                                const cmsis_nn_dims *weights_time_dims, const int8_t *weights_time_data,
                                const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
                                const cmsis_nn_dims *output_dims, int8_t *output_data);
int32_t arm_svdf_s8_get_buffer_size(const cmsis_nn_dims *filter_dims);

// Sizes by core, as the functions without the ending say them. One is larger, that of arm_depthwise_conv_s8_opt: two
// bytes for each weight, which CMSIS-NN's kernel for 4-bit weights relies on where it is linked beside this library.
int32_t arm_convolve_s8_get_buffer_size_mve(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);
int32_t arm_convolve_wrapper_s8_get_buffer_size_dsp(const cmsis_nn_conv_params *conv_params,
                                                    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                    const cmsis_nn_dims *output_dims);
int32_t arm_convolve_wrapper_s8_get_buffer_size_mve(const cmsis_nn_conv_params *conv_params,
                                                    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                    const cmsis_nn_dims *output_dims);
int32_t arm_depthwise_conv_s8_opt_get_buffer_size_dsp(const cmsis_nn_dims *input_dims,
                                                      const cmsis_nn_dims *filter_dims);
int32_t arm_depthwise_conv_s8_opt_get_buffer_size_mve(const cmsis_nn_dims *input_dims,
                                                      const cmsis_nn_dims *filter_dims);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size_dsp(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                          const cmsis_nn_dims *input_dims,
                                                          const cmsis_nn_dims *filter_dims,
                                                          const cmsis_nn_dims *output_dims);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size_mve(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                          const cmsis_nn_dims *input_dims,
                                                          const cmsis_nn_dims *filter_dims,
                                                          const cmsis_nn_dims *output_dims);
int32_t arm_transpose_conv_s8_get_buffer_size_mve(const cmsis_nn_transpose_conv_params *transpose_conv_params,
                                                  const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                  const cmsis_nn_dims *out_dims);
int32_t arm_fully_connected_s8_get_buffer_size_dsp(const cmsis_nn_dims *filter_dims);
int32_t arm_fully_connected_s8_get_buffer_size_mve(const cmsis_nn_dims *filter_dims);
int32_t arm_avgpool_s8_get_buffer_size_dsp(int dim_dst_width, int ch_src);
int32_t arm_avgpool_s8_get_buffer_size_mve(int dim_dst_width, int ch_src);
int32_t arm_svdf_s8_get_buffer_size_dsp(const cmsis_nn_dims *filter_dims);
int32_t arm_svdf_s8_get_buffer_size_mve(const cmsis_nn_dims *filter_dims);

#ifdef __cplusplus
}
#endif

#endif
