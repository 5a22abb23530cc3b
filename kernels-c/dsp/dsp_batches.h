// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which matrices the batched products multiply. Either input has one matrix for each of the output's, or is repeated
// along one or both of the outer axes.
#ifndef DSP_BATCHES_H
#define DSP_BATCHES_H

#include "arm_nnfunctions.h"
#include "dsp.h"

// Whether the shapes go together: rows of the first times rows of the second input.
DSP_INLINE bool dsp_are_batches(const cmsis_nn_dims *lhs, const cmsis_nn_dims *rhs, const cmsis_nn_dims *output) {
  return (lhs->n == output->n || lhs->n == 1) && (rhs->n == output->n || rhs->n == 1) &&
         (lhs->h == output->h || lhs->h == 1) && (rhs->h == output->h || rhs->h == 1) && lhs->c == rhs->c;
}

// Elements before the matrix of an input that goes with the output's at n, h.
DSP_INLINE int32_t dsp_batch_offset(const cmsis_nn_dims *dims, int32_t n, int32_t h) {
  const int32_t batch = (dims->n == 1 ? 0 : n) * dims->h + (dims->h == 1 ? 0 : h);
  return batch * dims->w * dims->c;
}

#endif
