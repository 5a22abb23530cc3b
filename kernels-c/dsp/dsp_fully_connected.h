// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Outputs of one batch; both loop orders call it, for one scale of the filter and for one of each output.
#ifndef DSP_FULLY_CONNECTED_H
#define DSP_FULLY_CONNECTED_H

#include "arm_nnfunctions.h"
#include "dsp.h"

// What all batches of a layer share.
typedef struct {
  const cmsis_nn_fc_params *params;
  const int32_t *multiplier, *shift; // of the first output; the next output's lie `step` further: 1, or 0 for one scale
  int32_t step, inputs;
  const int8_t *filter;
  const int32_t *bias; // or NULL
} dsp_matrix;

// Stores outputs from `first` up to, and without, `end`, of which the first is a multiple of 4.
// Order: blocks of 4 outputs | input values; the outputs of a block are stored after its loads.
void dsp_multiply_matrix(const dsp_matrix *matrix, const int8_t *input, int32_t first, int32_t end, int8_t *output);

#endif
