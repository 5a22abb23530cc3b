// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Direct evaluation, as in oracle.h, of the kernels with unsigned 8-bit activations.
#ifndef ORACLE_UINT8_H
#define ORACLE_UINT8_H

#include "oracle_operators.h"
#include "dmo_uint8.h"

int32_t oracle_conv2d_u8(const dmo_conv2d_u8_params *params, const dmo_quant_per_tensor *quant,
                         const dmo_shape *input_shape, const uint8_t *input,
                         const dmo_shape *filter_shape, const uint8_t *filter, const int32_t *bias,
                         const dmo_shape *output_shape, int32_t index);
int32_t oracle_depthwise_conv2d_u8(const dmo_conv2d_u8_params *params, const dmo_quant_per_tensor *quant,
                                   const dmo_shape *input_shape, const uint8_t *input,
                                   const dmo_shape *filter_shape, const uint8_t *filter, const int32_t *bias,
                                   const dmo_shape *output_shape, int32_t index);
int32_t oracle_fully_connected_u8(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                                  int32_t inputs, int32_t outputs, const uint8_t *input, const uint8_t *filter,
                                  const int32_t *bias, int32_t index);
int32_t oracle_max_pool_u8(const dmo_pool_params *params, const dmo_shape *input_shape, const uint8_t *input,
                           const dmo_shape *output_shape, int32_t index);
int32_t oracle_avg_pool_u8(const dmo_pool_params *params, const dmo_shape *input_shape, const uint8_t *input,
                           const dmo_shape *output_shape, int32_t index);
int32_t oracle_add_u8(const dmo_add_params *params, const uint8_t *input1, const uint8_t *input2, int32_t index);
// The probability itself, not quantised; input_scale as for oracle_softmax_s8.
double oracle_softmax_u8(double input_scale, int32_t depth, const uint8_t *input, int32_t index);

#endif
