// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The steps of an LSTM, whatever the width of its activations: what multiplies a gate's weights is passed as a
// function.
#ifndef DSP_LSTM_H
#define DSP_LSTM_H

#include "arm_nnfunctions.h"
#include "dsp.h"

#include <stddef.h>

// A matrix of weights, and the scale of its products with a vector.
typedef struct {
  const int8_t *weights;
  const void *bias; // of each row
  int32_t multiplier, shift;
  int32_t columns;
  bool is_fast; // what dsp_lstm_kind says of it
} dsp_lstm_matrix;

// What depends on the width of activations.
typedef struct {
  int32_t bytes; // of an activation
  // Whether the scale and all sums are such that a fast way requantises them.
  bool (*is_fast)(const dsp_lstm_matrix *matrix, int32_t rows);
  // Multiplies the rows from `first` up to, and without, `end` by a vector, requantises, adds the values if `adds`,
  // saturates to 16 bits and stores to the values.
  void (*multiply)(const dsp_lstm_matrix *matrix, const void *vector, int32_t first, int32_t end, bool adds,
                   int16_t *values);
} dsp_lstm_kind;

// hidden_state: the state that is kept from one call to the next, or NULL; see arm_nnfunctions_lstm.h.
void dsp_run_lstm(const dsp_lstm_kind *kind, const cmsis_nn_lstm_params *params, const cmsis_nn_lstm_context *buffers,
                  void *hidden_state, const void *input, void *output);
void dsp_run_lstm_s8(const cmsis_nn_lstm_params *params, const cmsis_nn_lstm_context *buffers, void *hidden_state,
                     const int8_t *input, int8_t *output);
void dsp_run_lstm_s16(const cmsis_nn_lstm_params *params, const cmsis_nn_lstm_context *buffers, void *hidden_state,
                      const int16_t *input, int16_t *output);

// As dsp_lstm_kind.multiply, one row after the other: by a scale and with sums that dsp_requantize_fast takes.
void dsp_multiply_few_s16(const dsp_lstm_matrix *matrix, const int16_t *vector, int32_t first, int32_t end, bool adds,
                          int16_t *values);

DSP_INLINE void *dsp_hidden_state(const cmsis_nn_lstm_context *buffers) {
#ifdef CMSIS_NN_LSTM_HIDDEN_STATE
  return buffers->hidden_state;
#else
  (void)buffers;
  return NULL;
#endif
}

#endif
