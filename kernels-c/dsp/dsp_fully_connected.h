// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Up to four outputs of one batch; both loop orders call it, for one scale of the filter and for one of each output.
#ifndef DSP_FULLY_CONNECTED_H
#define DSP_FULLY_CONNECTED_H

#include "arm_nnfunctions.h"
#include "dsp_vector.h"

// multiplier and shift are those of the first of the outputs, and the next output's lie `step` further: 1, or 0 for one
// scale.
static inline void dsp_fully_connected_4(const cmsis_nn_fc_params *params, const int32_t *multiplier,
                                         const int32_t *shift, int32_t step, const dsp_range *range, int32_t first,
                                         int32_t count, int32_t inputs, const int8_t *input, const int8_t *filter,
                                         const int32_t *bias, int8_t *output) {
  const dsp_sums sums =
      dsp_multiply_vector(input, params->input_offset, &filter[first * inputs], count, params->filter_offset, inputs,
                          dsp_bias_vector(bias == NULL ? NULL : &bias[first], count));
  const uint32_t word = dsp_requantize_vector(range, sums, count, multiplier, shift, step);
  dsp_store_vector(&output[first], word, count);
}

#endif
