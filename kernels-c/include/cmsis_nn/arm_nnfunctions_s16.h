// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The functions of the CMSIS-NN interface, version 7.0.0, with 16-bit activations, and at the end the batched products,
// minimum and maximum of 8 bits, of which the inputs may have two shapes. To be included by arm_nnfunctions.h, whose
// notes on scratch, order of loads and stores, S and O_s hold here as well; t(q), IB1 and OB1 count bytes, I and O are
// the bytes of a pixel of input and output, and floor2(x) is x rounded down to a multiple of 2.
//
// Arithmetic: bit-exact with the reference kernels of this repository (dmo_*_s16). Activations are int16 with the zero
// point 0: offsets in parameters are not read. Weights are int8. Biases are int64; those of 32 bits, which
// cmsis_nn_bias_data allows, make the layer's sums 32 bits wide, and the sums are requantised as those of 8-bit layers.
#ifndef ARM_NNFUNCTIONS_S16_H
#define ARM_NNFUNCTIONS_S16_H

#include "arm_nn_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Convolutions. input [N, H, W, C], filter [O, H, W, I], output [N, H, W, O]; grouped as well (C is a multiple of I, and
// O of C / I), else ARM_CMSIS_NN_ARG_ERROR; and so without scratch. bias_data: NULL, or data NULL, for no bias.
// Order: batch, pairs of consecutive output pixels | the patches of the pair are copied to the scratch, then for each 2
// output channels their filters are loaded and 4 outputs are stored.
// S = max over batches b and pixels q of b * max(0, OB1 - IB1) + floor2(q) * O - t(q): smaller than the reference
// kernel's. Grouped: for each group in turn its part of the patches is copied and its outputs are stored; trace it.
// Scratch: 4 bytes for each weight of one filter, times the number of groups.
arm_cmsis_nn_status arm_convolve_s16(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                     const cmsis_nn_per_channel_quant_params *quant_params,
                                     const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                     const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                     const cmsis_nn_dims *bias_dims, const cmsis_nn_bias_data *bias_data,
                                     const cmsis_nn_dims *output_dims, int16_t *output_data);
int32_t arm_convolve_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);

// Calls the function above.
arm_cmsis_nn_status arm_convolve_wrapper_s16(const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
                                             const cmsis_nn_per_channel_quant_params *quant_params,
                                             const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                             const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                             const cmsis_nn_dims *bias_dims, const cmsis_nn_bias_data *bias_data,
                                             const cmsis_nn_dims *output_dims, int16_t *output_data);
int32_t arm_convolve_wrapper_s16_get_buffer_size(const cmsis_nn_conv_params *conv_params,
                                                 const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                 const cmsis_nn_dims *output_dims);

// Depthwise convolutions. input [N, H, W, C], filter [1, H, W, C * ch_mult], bias [C * ch_mult] or NULL, output
// [N, H, W, C * ch_mult]. No scratch.
// Order: batch, pixel, blocks of 4 output channels, which exist of more than one input channel only where ch_mult is 1,
// and then single ones | fy, fx; the outputs of a block are stored after its loads.
// S, for ch_mult = 1: max over b and q of b * max(0, OB1 - IB1) + q * O - t(q), as the reference kernel's. For
// ch_mult > 1 it is at most the reference kernel's.

// Any stride, dilation and multiplier.
arm_cmsis_nn_status arm_depthwise_conv_s16(const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
                                           const cmsis_nn_per_channel_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                           const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                           const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
                                           const cmsis_nn_dims *output_dims, int16_t *output_data);

// ch_mult 1 and fewer than 512 taps; else ARM_CMSIS_NN_ARG_ERROR. Any stride and dilation. The size is 0.
arm_cmsis_nn_status arm_depthwise_conv_fast_s16(const cmsis_nn_context *ctx,
                                                const cmsis_nn_dw_conv_params *dw_conv_params,
                                                const cmsis_nn_per_channel_quant_params *quant_params,
                                                const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                                const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
                                                const cmsis_nn_dims *output_dims, int16_t *output_data);
int32_t arm_depthwise_conv_fast_s16_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims);

// Either of the two, which share their code. The size is 0.
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s16(const cmsis_nn_context *ctx,
                                                   const cmsis_nn_dw_conv_params *dw_conv_params,
                                                   const cmsis_nn_per_channel_quant_params *quant_params,
                                                   const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                                   const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                                   const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
                                                   const cmsis_nn_dims *output_dims, int16_t *output_data);
int32_t arm_depthwise_conv_wrapper_s16_get_buffer_size(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                       const cmsis_nn_dims *input_dims,
                                                       const cmsis_nn_dims *filter_dims,
                                                       const cmsis_nn_dims *output_dims);

// Fully connected: input_dims->n batches of filter_dims->n values; filter [output_dims->c, filter_dims->n]; bias
// [output_dims->c] or NULL. filter_offset is not read. The size is 0.
// Order: batch, blocks of 4 outputs | input values; the outputs of a block are stored after its loads. With A values in
// and O out of a batch, and B batches: S = 2 * ((B - 1) * max(0, O - A) + floor4(O - 1)).
arm_cmsis_nn_status arm_fully_connected_s16(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
                                            const cmsis_nn_per_tensor_quant_params *quant_params,
                                            const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                            const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                            const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
                                            const cmsis_nn_dims *output_dims, int16_t *output_data);
int32_t arm_fully_connected_s16_get_buffer_size(const cmsis_nn_dims *filter_dims);

// Pooling. input [N, H, W, C], output [N, H, W, C]; only height and width of filter_dims count. A window that lies
// wholly outside the input, or no batch, is an ARM_CMSIS_NN_ARG_ERROR. The average is rounded to nearest, halves away
// from zero; a window has at most 2^15 taps.
// Order: batch, pixel, blocks of 4 channels, single ones | fy, fx; 4 outputs are stored after their loads. S is the
// reference kernel's: max over b and q of b * max(0, OB1 - IB1) + q * O - t(q). The size is 0.
arm_cmsis_nn_status arm_max_pool_s16(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                     const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                     const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                     int16_t *output_data);
arm_cmsis_nn_status arm_avgpool_s16(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params,
                                    const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                    int16_t *output_data);
int32_t arm_avgpool_s16_get_buffer_size(const int dim_dst_width, const int ch_src);

// Element-wise. Order: upwards in pairs; 2 outputs are stored after their loads. S = 0.
//
// As dmo_add_s16; left_shift is what it calls DMO_ADD_LEFT_SHIFT_S16.
arm_cmsis_nn_status arm_elementwise_add_s16(const int16_t *input_1_vect, const int16_t *input_2_vect,
                                            const int32_t input_1_offset, const int32_t input_1_mult,
                                            const int32_t input_1_shift, const int32_t input_2_offset,
                                            const int32_t input_2_mult, const int32_t input_2_shift,
                                            const int32_t left_shift, int16_t *output, const int32_t out_offset,
                                            const int32_t out_mult, const int32_t out_shift,
                                            const int32_t out_activation_min, const int32_t out_activation_max,
                                            const int32_t block_size);
// As dmo_mul_s16.
arm_cmsis_nn_status arm_elementwise_mul_s16(const int16_t *input_1_vect, const int16_t *input_2_vect,
                                            const int32_t input_1_offset, const int32_t input_2_offset,
                                            int16_t *output, const int32_t out_offset, const int32_t out_mult,
                                            const int32_t out_shift, const int32_t out_activation_min,
                                            const int32_t out_activation_max, const int32_t block_size);

// Softmax over rows, by dmo_softmax_s16: its ranges, tables, order and S = 0. A table that is NULL is an
// ARM_CMSIS_NN_ARG_ERROR.
arm_cmsis_nn_status arm_softmax_s16(const int16_t *input, const int32_t num_rows, const int32_t row_size,
                                    const int32_t mult, const int32_t shift,
                                    const cmsis_nn_softmax_lut_s16 *softmax_params, int16_t *output);

// By dmo_softmax_s8_s16 and dmo_softmax_u8: their ranges and order.
void arm_softmax_s8_s16(const int8_t *input, const int32_t num_rows, const int32_t row_size, const int32_t mult,
                        const int32_t shift, const int32_t diff_min, int16_t *output);
void arm_softmax_u8(const uint8_t *input, const int32_t num_rows, const int32_t row_size, const int32_t mult,
                    const int32_t shift, const int32_t diff_min, uint8_t *output);

// In place, upwards: data[i] = max(0, data[i]).
void arm_relu_q15(int16_t *data, uint16_t size);

// SVDF with 16-bit state, as arm_svdf_s8 in all else: weights_time are int16, and all of the state moves before the
// first input is loaded. input_ctx and output_ctx are not used, and may be empty.
arm_cmsis_nn_status arm_svdf_state_s16_s8(const cmsis_nn_context *input_ctx, const cmsis_nn_context *output_ctx,
                                          const cmsis_nn_svdf_params *svdf_params,
                                          const cmsis_nn_per_tensor_quant_params *input_quant_params,
                                          const cmsis_nn_per_tensor_quant_params *output_quant_params,
                                          const cmsis_nn_dims *input_dims, const int8_t *input_data,
                                          const cmsis_nn_dims *state_dims, int16_t *state_data,
                                          const cmsis_nn_dims *weights_feature_dims,
                                          const int8_t *weights_feature_data, const cmsis_nn_dims *weights_time_dims,
                                          const int16_t *weights_time_data, const cmsis_nn_dims *bias_dims,
                                          const int32_t *bias_data, const cmsis_nn_dims *output_dims,
                                          int8_t *output_data);

// Products of matrices, of which the second is transposed: lhs [N, H, rows, inner], rhs [N, H, columns, inner], output
// [N, H, rows, columns]; either input may have one matrix along N, H or both, which is repeated. Other shapes are an
// ARM_CMSIS_NN_ARG_ERROR. The scratch is empty.
// Order: matrix, row, blocks of 4 columns (s16: of 2) | inner; the outputs of a block are stored after its loads. The
// last block of s8 may store some outputs of the one before again. rhs is loaded again for each row.
//
// Offsets and activation are those of fc_params: input_offset is lhs's, filter_offset rhs's. As dmo_batched_matmul_s8.
arm_cmsis_nn_status arm_batch_matmul_s8(const cmsis_nn_context *ctx, const cmsis_nn_bmm_params *bmm_params,
                                        const cmsis_nn_per_tensor_quant_params *quant_params,
                                        const cmsis_nn_dims *input_lhs_dims, const int8_t *input_lhs,
                                        const cmsis_nn_dims *input_rhs_dims, const int8_t *input_rhs,
                                        const cmsis_nn_dims *output_dims, int8_t *output);
// Sums have 64 bits, and are requantised by dmo_requantize_wide.
arm_cmsis_nn_status arm_batch_matmul_s16(const cmsis_nn_context *ctx, const cmsis_nn_bmm_params *bmm_params,
                                         const cmsis_nn_per_tensor_quant_params *quant_params,
                                         const cmsis_nn_dims *input_lhs_dims, const int16_t *input_lhs,
                                         const cmsis_nn_dims *input_rhs_dims, const int16_t *input_rhs,
                                         const cmsis_nn_dims *output_dims, int16_t *output);

// The larger, or smaller, of each two elements. An axis of either input may have the extent 1 where the output's is
// larger, and is repeated along it; other extents are an ARM_CMSIS_NN_ARG_ERROR. No element beyond an input is loaded.
// Order: the output upwards, in runs of the innermost axes along which each input is either read on or one element of
// it; blocks of 4 and a rest of each run are stored after their loads. S = 0 for an input that is not repeated.
arm_cmsis_nn_status arm_maximum_s8(const cmsis_nn_context *ctx, const int8_t *input_1_data,
                                   const cmsis_nn_dims *input_1_dims, const int8_t *input_2_data,
                                   const cmsis_nn_dims *input_2_dims, int8_t *output_data,
                                   const cmsis_nn_dims *output_dims);
arm_cmsis_nn_status arm_minimum_s8(const cmsis_nn_context *ctx, const int8_t *input_1_data,
                                   const cmsis_nn_dims *input_1_dims, const int8_t *input_2_data,
                                   const cmsis_nn_dims *input_2_dims, int8_t *output_data,
                                   const cmsis_nn_dims *output_dims);

// Sizes by core, as the functions without the ending say them.
int32_t arm_convolve_wrapper_s16_get_buffer_size_dsp(const cmsis_nn_conv_params *conv_params,
                                                     const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                     const cmsis_nn_dims *output_dims);
int32_t arm_convolve_wrapper_s16_get_buffer_size_mve(const cmsis_nn_conv_params *conv_params,
                                                     const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
                                                     const cmsis_nn_dims *output_dims);
int32_t arm_depthwise_conv_wrapper_s16_get_buffer_size_dsp(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                           const cmsis_nn_dims *input_dims,
                                                           const cmsis_nn_dims *filter_dims,
                                                           const cmsis_nn_dims *output_dims);
int32_t arm_depthwise_conv_wrapper_s16_get_buffer_size_mve(const cmsis_nn_dw_conv_params *dw_conv_params,
                                                           const cmsis_nn_dims *input_dims,
                                                           const cmsis_nn_dims *filter_dims,
                                                           const cmsis_nn_dims *output_dims);
int32_t arm_fully_connected_s16_get_buffer_size_dsp(const cmsis_nn_dims *filter_dims);
int32_t arm_fully_connected_s16_get_buffer_size_mve(const cmsis_nn_dims *filter_dims);
int32_t arm_avgpool_s16_get_buffer_size_dsp(const int dim_dst_width, const int ch_src);
int32_t arm_avgpool_s16_get_buffer_size_mve(const int dim_dst_width, const int ch_src);

#ifdef __cplusplus
}
#endif

#endif
