// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Kernels with 8-bit activations and weights of 4 bits, in [-8, 7], two of them in a byte: in the filter's flat order,
// the first in the lower half. An odd number of weights leaves the upper half of the last byte unused. Parameters,
// shapes, layouts, groups and loop orders are those of the kernels with 8-bit weights of the same name (dmo_conv.h,
// dmo_matmul.h); shapes count weights, not bytes. Weights are unpacked one at a time, as they are used. Output and
// inputs do not overlap unless a planner proved it safe; see dmo_conv.h.
#ifndef DMO_INT4_H
#define DMO_INT4_H

#include "dmo_conv.h"
#include "dmo_matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

// The weight of this flat index.
static inline int32_t dmo_int4_weight(const uint8_t *packed, int32_t index) {
  const int32_t bits = (packed[index / 2] >> (index % 2 * 4)) & 0xf;
  return (bits ^ 8) - 8;
}

// Convolution. input [N, H, W, C], filter [O, H, W, I], output [N, H, W, O], bias [O] or NULL for none.
// Loop order: b, oy, ox, oc | fy, fx, ic; each output element is stored once, after its loads. Scratch: none.
void dmo_conv2d_s4(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                   const dmo_shape *input_shape, const int8_t *input,
                   const dmo_shape *filter_shape, const uint8_t *filter, const int32_t *bias,
                   const dmo_shape *output_shape, int8_t *output);

// Depthwise convolution. input [N, H, W, C], filter [1, H, W, C * M], output [N, H, W, C * M], bias [C * M] or NULL.
// Loop order: b, oy, ox, ic, m | fy, fx; each output element is stored once, after its loads. Scratch: none.
void dmo_depthwise_conv2d_s4(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                             const dmo_shape *input_shape, const int8_t *input,
                             const dmo_shape *filter_shape, const uint8_t *filter, const int32_t *bias,
                             const dmo_shape *output_shape, int8_t *output);

// Fully connected layer. input [batches, inputs], filter [outputs, inputs], output [batches, outputs], bias [outputs]
// or NULL for none. Rows of an odd number of weights share bytes.
// Loop order: b, o | i; each output element is stored once, after its loads. Scratch: none.
void dmo_fully_connected_s4(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                            int32_t batches, int32_t inputs, int32_t outputs,
                            const int8_t *input, const uint8_t *filter, const int32_t *bias, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif
