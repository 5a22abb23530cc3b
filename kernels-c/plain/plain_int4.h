// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Weights of 4 bits: a filter is one stream of them over all channels, two in a byte, the first in the lower half. So a
// channel with an odd number of weights ends, or begins, within a byte. Weights are counted from the start of the
// stream, and taken out of their bytes as they are used: unpacked, they would need memory.
#ifndef PLAIN_INT4_H
#define PLAIN_INT4_H

#include "arm_nnfunctions.h"
#include "plain.h"

PLAIN_INLINE int32_t plain_lower(int32_t byte) {
  return (int32_t)((uint32_t)byte << 28) >> 28;
}

PLAIN_INLINE int32_t plain_upper(int32_t byte) {
  return byte >> 4;
}

PLAIN_INLINE int32_t plain_int4_at(const int8_t *packed, int32_t index) {
  const int32_t byte = packed[index / 2];
  return index % 2 == 0 ? plain_lower(byte) : plain_upper(byte);
}

// `count` weights as bytes.
void plain_unpack(const int8_t *packed, int32_t first, int32_t count, int8_t *to);

// The sum of `count` weights.
int32_t plain_int4_sum(const int8_t *packed, int32_t first, int32_t count);

// One patch or two, by two filters, that begin at weights `first` and `other`, which may be one and the same.
typedef struct {
  const int8_t *packed;
  int32_t first, other, columns;
} plain_int4_pair;

// Adds to two sums (row + offset) * weights.
void plain_multiply_int4_row(const plain_int4_pair *pair, const int8_t *row, int32_t offset, int32_t *sums);

// Adds to four sums the products of two patches, which are `step` bytes apart: both by the first filter, both by the
// other.
void plain_multiply_int4_patches(const plain_int4_pair *pair, const int8_t *patch, int32_t step, int32_t *sums);

// What the convolutions and the fully connected layer share.
enum { PLAIN_INT4_TABLE = 128 };
typedef struct {
  plain_output output;
  const int8_t *packed;
  const int32_t *bias;   // or NULL
  int32_t first;         // weight of the first channel
  int32_t columns, channels, input_offset;
  int32_t further;       // what is added to each sum
  int32_t known;         // channels in the table
  const int32_t *start;  // the table: bias + offset * sum(w)
} plain_int4_filters;

plain_int4_filters plain_make_int4(const cmsis_nn_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                                   const int8_t *packed, const int32_t *bias, int32_t columns, int32_t channels);

// Makes the table, of PLAIN_INT4_TABLE numbers; not needed for single pixels.
void plain_prepare_int4(plain_int4_filters *filters, int32_t *table);

// Stores the outputs of `count` channels from `first` on, an even one, of a patch or, with `pixels` 2, two patches that
// are `step` bytes apart; the second one's outputs are output_step bytes behind the first one's. Order: pairs of
// channels | columns; the outputs of a pair are stored after its loads.
void plain_convolve_int4_channels(const plain_int4_filters *filters, const int8_t *patch, int32_t step, int32_t pixels,
                                  int32_t first, int32_t count, int8_t *output, int32_t output_step);

// 1x1 without padding, of any stride.
void plain_convolve_int4_1x1(const cmsis_nn_conv_params *params, const cmsis_nn_per_channel_quant_params *quant,
                             const cmsis_nn_dims *input_dims, const int8_t *input, const int8_t *packed,
                             const int32_t *bias, const cmsis_nn_dims *output_dims, bool is_joined, int8_t *output);

#endif
