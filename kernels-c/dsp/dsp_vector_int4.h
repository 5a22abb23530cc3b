// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One row of bytes by filters of 4 bits, without scratch: the inside of the fully connected layer and of the strided
// 1x1 convolution.
//
// Weights are multiplied raised by 8, which saves giving each its sign; 8 times the sum of the row is taken away.
#ifndef DSP_VECTOR_INT4_H
#define DSP_VECTOR_INT4_H

#include "dsp_fully_connected.h"

// Stores `outputs` outputs of one row. matrix->filter is packed.
// Order: blocks of 4 outputs | input values; the outputs of a block are stored after its loads.
void dsp_multiply_int4_matrix(const dsp_matrix *matrix, const int8_t *input, int32_t outputs, int8_t *output);

#endif
