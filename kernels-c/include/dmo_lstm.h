// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A long short-term memory over a sequence: input, output and hidden state of 8 or 16 bit, 16-bit cell state and gates. Output,
// input and scratch do not overlap unless a planner proved it safe (see dmo_conv.h); the states overlap nothing and
// persist from one call to the next.
#ifndef DMO_LSTM_H
#define DMO_LSTM_H

#include "dmo_quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

// time_major: 1: input [steps, batches, inputs], output [steps, batches, units];
//             0: input [batches, steps, inputs], output [batches, steps, units].
// hidden_state and cell_state are [batches, units].
typedef struct {
  int32_t batches, steps, inputs, units;
  int32_t time_major;
} dmo_lstm_size;

enum { DMO_LSTM_INPUT_GATE = 0, DMO_LSTM_FORGET_GATE = 1, DMO_LSTM_CELL_GATE = 2, DMO_LSTM_OUTPUT_GATE = 3 };
enum { DMO_LSTM_GATES = 4 };

// input_weights [units, inputs], recurrent_weights [units, units], bias [units] or NULL for none.
typedef struct {
  const int8_t *input_weights;
  const int8_t *recurrent_weights;
  const int32_t *bias;
} dmo_lstm_weights;

// The same for activations of 16 bit.
typedef struct {
  const int8_t *input_weights;
  const int8_t *recurrent_weights;
  const int64_t *bias;
} dmo_lstm_weights_s16;

typedef struct {
  dmo_quant_per_tensor input;     // input scale * weights' scale * 2^12
  dmo_quant_per_tensor recurrent; // hidden scale * weights' scale * 2^12
} dmo_lstm_gate_quant;

typedef struct {
  int32_t input_offset;             // [-128, 128]; 0 for 16 bit
  int32_t hidden_zero_point;        // [-128, 127], 0 for 16 bit; the output's too
  dmo_lstm_gate_quant gates[4];     // by DMO_LSTM_INPUT_GATE and so on
  dmo_quant_per_tensor forget_cell; // 2^-15
  dmo_quant_per_tensor input_cell;  // 2^-30 / cell scale
  dmo_quant_per_tensor output_cell; // 2^-30 / hidden scale; shift is at most 0
  int32_t cell_scale_power;         // the cell state's scale is 2^cell_scale_power; [-15, 0]
  int32_t cell_clip;                // the cell state is clamped to [-cell_clip, cell_clip]; 0: it is not
} dmo_lstm_params;

// The sigmoid s = 1 / (1 + exp(-i / 24)) for i from 0 to 255; 65536 stands for 1. The curve is concave, so what is
// interpolated lies below it, by up to (1 / 24)^2 / 8 times its second derivative. Half of that is added:
//   round(65536 * (s + s * (1 - s) * (2 * s - 1) / 9216)), and 65535 for 255.
// This is the table of the TensorFlow Lite reference kernels.
enum { DMO_SIGMOID_TABLE_SIZE = 256 };

// Bytes of scratch: 4 gates' worth of int16_t, for all batches if time is major, else for one.
int32_t dmo_lstm_s8_scratch_bytes(const dmo_lstm_size *size);

// At each step, with all products requantised and all 16-bit sums saturated:
//   gate g = activation(requantize(bias + sum input_weights * (input + input_offset)) +
//                       requantize(sum recurrent_weights * (hidden - hidden_zero_point)))
//   cell   = clip(forget * cell + input gate * cell gate)
//   hidden = saturate(hidden_zero_point + requantize(output gate * tanh(cell)))
// A gate's argument is in Q3.12, its result in Q0.15; the activation is the sigmoid, and tanh for the cell gate. Both
// interpolate sigmoid_table.
//
// Order: for each step, all batches together if time is major; else for each batch, for each step, that batch alone:
// the input, forget, cell and output gate, each of which loops b, u | i, loading the whole input of the step for each
// u, then b, u | v over the hidden state, into the scratch; then the cell state; then the hidden state; then copies the
// hidden state, by memcpy, to the step's output. Every load of a step's input comes before every store of its output.
void dmo_unidirectional_sequence_lstm_s8(const dmo_lstm_params *params, const dmo_lstm_size *size, const int8_t *input,
                                         const dmo_lstm_weights weights[4], const uint16_t *sigmoid_table,
                                         int8_t *hidden_state, int16_t *cell_state, int8_t *output,
                                         int16_t *scratch);

// The same in 16 bit, with the same scratch. Gates requantise sums of 64 bit by dmo_requantize_wide of dmo_int16.h; a shift
// there is at most 7.
void dmo_unidirectional_sequence_lstm_s16(const dmo_lstm_params *params, const dmo_lstm_size *size, const int16_t *input,
                                          const dmo_lstm_weights_s16 weights[4], const uint16_t *sigmoid_table,
                                          int16_t *hidden_state, int16_t *cell_state, int16_t *output,
                                          int16_t *scratch);

// The same in floats, without the table: products in the order of the indices, then the bias.
typedef struct {
  const float *input_weights;
  const float *recurrent_weights;
  const float *bias;
} dmo_lstm_weights_f32;

typedef struct {
  float cell_clip; // the cell state is clamped to [-cell_clip, cell_clip]; 0: it is not
} dmo_lstm_f32_params;

// Bytes of scratch: 4 gates' worth of float, for all batches if time is major, else for one.
int32_t dmo_lstm_f32_scratch_bytes(const dmo_lstm_size *size);

void dmo_unidirectional_sequence_lstm_f32(const dmo_lstm_f32_params *params, const dmo_lstm_size *size,
                                          const float *input, const dmo_lstm_weights_f32 weights[4],
                                          float *hidden_state, float *cell_state, float *output, float *scratch);

#ifdef __cplusplus
}
#endif

#endif
