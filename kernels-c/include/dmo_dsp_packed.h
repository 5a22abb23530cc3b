// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Kernels for the DSP extension whose weights were laid out for them beforehand. Each computes what the reference kernel
// of its operator does, bit for bit.
//
// Weights of two output channels p and q (p even, q = p + 1) share 16-bit numbers 256 * q + p: a sum of products with
// them is 256 * (sum of q) + (sum of p), and the numbers' sign-extended low bytes give the sum of p alone. So a weight w
// is in [-127, 127], and of q |w| * |input + input_offset|, summed, is below 2^23.
//
// What the layer adds and scales by follows the weights, for p and then for q: 32 * bias - shift - 1, where shift is in
// [-16, -1] and |bias| below 2^26, and the multiplier. No sum, bias included, reaches 2^30.
#ifndef DMO_DSP_PACKED_H
#define DMO_DSP_PACKED_H

#include "dmo_conv.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of scratch, which is aligned to 4.
int32_t dmo_dsp_packed_conv2d_s8_scratch_bytes(const dmo_shape *filter_shape);

// As dmo_conv2d_s8, for one group, not dilated.
//
// packed holds, for each pair of channels, its taps in groups of four, two words a group: the numbers of taps 0 and 2,
// then of taps 1 and 3; then its four words of bias, shift and multiplier. A row of taps, L = w * c of the filter, has
// its first L / 4 * 4 taps as groups, rows one after the other. The taps that are left of all rows, in the same order,
// make further groups. What is missing in the last group, and in the last pair of an odd number of channels, is 0.
// Order: for four pixels at a time, their patches are copied to the scratch, then for each two filters the outputs are
// stored.
void dmo_dsp_packed_conv2d_s8(const dmo_conv2d_params *params, const dmo_shape *input_shape, const int8_t *input,
                          const dmo_shape *filter_shape, const uint32_t *packed, const dmo_shape *output_shape,
                          int8_t *output, void *scratch);

// As dmo_depthwise_conv2d_s8, for filters of 3x3 that are not dilated, multiplier 1, 4 to 384 channels, and at most one
// row and one column of each window outside the input on each side.
//
// packed holds, for each block of four channels, its weights in a byte each, a word for each of the nine taps; then for
// each of the four channels 2 * bias, the multiplier, (2 * (output_offset + 127 - activation_max) + 1) * 2^(-shift - 1),
// and -shift - 1. What does not fill a block is in one more, of the last four channels.
// Order: some pixels of a row at a time, as many as have 384 bytes in all, at most 16 | four channels, pixels, fy, fx; the outputs of
// these pixels are stored after their loads. Scratch: none.
void dmo_dsp_packed_depthwise_conv2d_3x3_s8(const dmo_conv2d_params *params, const dmo_shape *input_shape,
                                        const int8_t *input, const dmo_shape *filter_shape, const uint32_t *packed,
                                        const dmo_shape *output_shape, int8_t *output);

typedef struct {
  int32_t output_offset;
  int32_t activation_min, activation_max;
  int32_t multiplier, shift;
} dmo_dsp_packed_fully_connected_params;

// As dmo_fully_connected_s8 with filter_offset 0; inputs is a multiple of 4. The input's offset times the sum of its
// weights is part of an output's bias.
//
// packed holds, for each block of eight outputs, groups of four inputs, eight words each: of inputs 0 and 2 the numbers
// of the four pairs of outputs, then of inputs 1 and 3; then eight words 2 * bias. What is missing in the last block
// is 0. Of q |w| * 128, summed, is below 2^23.
// Order: b, eight outputs at a time | i; the outputs of a block are stored after its loads. Scratch: none.
void dmo_dsp_packed_fully_connected_s8(const dmo_dsp_packed_fully_connected_params *params, int32_t batches, int32_t inputs,
                                   int32_t outputs, const int8_t *input, const uint32_t *packed, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif
