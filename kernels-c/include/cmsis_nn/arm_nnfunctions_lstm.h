// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The functions of the CMSIS-NN interface, version 7.0.0, for long short-term memories. To be included by
// arm_nnfunctions.h, whose notes on order of loads and stores, S and O_s hold here as well.
#ifndef ARM_NNFUNCTIONS_LSTM_H
#define ARM_NNFUNCTIONS_LSTM_H

#include "arm_nn_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The logistic function (ARM_SIGMOID) or the hyperbolic tangent of numbers in units of 2^(left_shift - 12), in Q0.15,
// by the table of dmo_lstm.h, which the library has. left_shift is in [-30, 13]. Order: element by element. S = 0.
arm_cmsis_nn_status arm_nn_activation_s16(const int16_t *input, int16_t *output, const int32_t size,
                                          const int32_t left_shift, const arm_nn_activation_type type);

// At each step, for each batch:
//   gate g = activation(saturate(saturate(requantize(effective bias + sum input_weights * input)) +
//                                requantize(effective bias + sum hidden_weights * hidden)))
//   cell   = clip(saturate(requantize(forget * cell)) + requantize(input gate * cell gate))
//   output = hidden = saturate(output_offset + requantize(output gate * tanh(cell)))
// A gate's argument is in Q3.12, its result in Q0.15. This is dmo_unidirectional_sequence_lstm_s8, which however
// saturates every product to 16 bits before it adds it; the interface does so with the first of each two alone.
//
// Cell states begin as 0, and at the first step there is no second product. With a hidden_state (see
// cmsis_nn_lstm_context) both states are those of the call before, and are kept for the next.
//
// Order: for each step, all batches together if time_major, else for each batch, for each step, that batch alone: the
// gates load the whole input and the output of the step before; then the output of the step is stored. With I and O the
// bytes of a step's input and output, of all batches if time_major or else of one, and N steps, of all batches unless
// time_major: S = (N - 1) * max(0, O - I). States and scratch, which is temp1 and temp2, overlap nothing; scratch is
// used for the batches that go together. Hidden weights and their effective bias may be NULL where there is no second
// product; no other pointer may.
arm_cmsis_nn_status arm_lstm_unidirectional_s8(const int8_t *input, int8_t *output, const cmsis_nn_lstm_params *params,
                                               cmsis_nn_lstm_context *buffers);

// The same in 16 bits. Gates requantise sums of 64 bits by dmo_requantize_wide of dmo_int16.h, to less than 2^30.
arm_cmsis_nn_status arm_lstm_unidirectional_s16(const int16_t *input, int16_t *output,
                                                const cmsis_nn_lstm_params *params, cmsis_nn_lstm_context *buffers);

#ifdef __cplusplus
}
#endif

#endif
