// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef PLAIN_FULLY_CONNECTED_H
#define PLAIN_FULLY_CONNECTED_H

#include "arm_nnfunctions.h"

// multiplier and shift: one for each output if step is 1, one for all if it is 0. Order: batch, blocks of 12 outputs,
// pairs of outputs | input values; the outputs of a block are stored after its loads.
void plain_fully_connected(const cmsis_nn_fc_params *params, const int32_t *multiplier, const int32_t *shift,
                           int32_t step, const cmsis_nn_dims *input_dims, const int8_t *input,
                           const cmsis_nn_dims *filter_dims, const int8_t *filter, const int32_t *bias,
                           const cmsis_nn_dims *output_dims, int8_t *output);

#endif
