// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The argument types of the CMSIS-NN interface, version 7.0.0, as far as the functions of arm_nnfunctions.h need them.
// Names and order of the fields are those of the interface, so that the real library and its headers can take the place
// of this one. The types did not change from 6.0.0, except that 7.0.0 added cmsis_nn_transpose_params and
// cmsis_nn_bmm_params.
#ifndef ARM_NN_TYPES_H
#define ARM_NN_TYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
  ARM_CMSIS_NN_SUCCESS = 0,
  ARM_CMSIS_NN_ARG_ERROR = -1,     // an argument is not what the function asks for
  ARM_CMSIS_NN_NO_IMPL_ERROR = -2, // valid, but not in this library
  ARM_CMSIS_NN_FAILURE = -3,
} arm_cmsis_nn_status;

// Scratch memory, in bytes.
typedef struct {
  void *buf;
  int32_t size;
} cmsis_nn_context;

typedef struct {
  int32_t n, h, w, c;
} cmsis_nn_dims;

typedef struct {
  int32_t w, h;
} cmsis_nn_tile;

typedef struct {
  int32_t min, max;
} cmsis_nn_activation;

// One multiplier and shift for each output channel. Multiplier and shift mean what they mean in dmo_quantize.h.
typedef struct {
  int32_t *multiplier;
  int32_t *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
  int32_t multiplier;
  int32_t shift;
} cmsis_nn_per_tensor_quant_params;

// The biases of a layer with 16-bit activations.
typedef struct {
  const void *data;         // NULL for none
  const bool is_int32_bias; // int32_t, or else int64_t
} cmsis_nn_bias_data;

// An offset is added: input and filter offsets are minus a zero point, an output offset is a zero point.
typedef struct {
  int32_t input_offset;
  int32_t output_offset;
  cmsis_nn_tile stride;
  cmsis_nn_tile padding; // columns left of the input and rows above it
  cmsis_nn_tile dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
  int32_t input_offset;
  int32_t output_offset;
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;         // columns and rows that are cut off the full output at the left and above
  cmsis_nn_tile padding_offsets; // not read
  cmsis_nn_tile dilation;        // not read: 1
  cmsis_nn_activation activation;
} cmsis_nn_transpose_conv_params;

typedef struct {
  int32_t input_offset;
  int32_t output_offset;
  int32_t ch_mult; // output channels for each input channel
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_tile dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct {
  int32_t input_offset;
  int32_t filter_offset;
  int32_t output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

typedef struct {
  int32_t rank;
  int32_t input_offset; // the zero point itself, unlike those of all other functions
  int32_t output_offset;
  cmsis_nn_activation input_activation;
  cmsis_nn_activation output_activation;
} cmsis_nn_svdf_params;

typedef struct {
  const bool adj_x; // not read, as the next
  const bool adj_y;
  cmsis_nn_fc_params fc_params;
} cmsis_nn_bmm_params;

// Two tables as dmo_softmax_s16 takes them: of exp(x), and of 1 / (1 + x).
typedef struct {
  const int16_t *exp_lut;
  const int16_t *one_by_one_lut;
} cmsis_nn_softmax_lut_s16;

// What arm_nn_activation_s16 computes.
typedef enum {
  ARM_SIGMOID = 0,
  ARM_TANH = 1,
} arm_nn_activation_type;

// A gate of an LSTM. Weights are int8: [hidden_size, input_size] and [hidden_size, hidden_size]. An effective bias,
// [hidden_size], is what a sum of products of weights and activations without their offset begins with: the bias, and
// the offset times each weight. int32_t for activations of 8 bits, int64_t for 16.
typedef struct {
  int32_t input_multiplier;
  int32_t input_shift;
  const void *input_weights;
  const void *input_effective_bias;
  int32_t hidden_multiplier;
  int32_t hidden_shift;
  const void *hidden_weights;
  const void *hidden_effective_bias;
  const void *bias; // not read
  arm_nn_activation_type activation_type;
} cmsis_nn_lstm_gate;

typedef struct {
  int32_t time_major; // 0: [batch, time, size], else [time, batch, size]
  int32_t batch_size;
  int32_t time_steps;
  int32_t input_size;
  int32_t hidden_size;
  int32_t input_offset; // not read: effective biases hold it
  int32_t forget_to_cell_multiplier;
  int32_t forget_to_cell_shift;
  int32_t input_to_cell_multiplier;
  int32_t input_to_cell_shift;
  int32_t cell_clip;        // the cell state is clamped to [-cell_clip, cell_clip]; 0: to 16 bits
  int32_t cell_scale_power; // the cell state's scale is 2^cell_scale_power
  int32_t output_multiplier;
  int32_t output_shift;
  int32_t output_offset;
  cmsis_nn_lstm_gate forget_gate;
  cmsis_nn_lstm_gate input_gate;
  cmsis_nn_lstm_gate cell_gate;
  cmsis_nn_lstm_gate output_gate;
} cmsis_nn_lstm_params;

// Each [batch_size, hidden_size] of int16_t. CMSIS-NN after 7.0.0 has one more member, of which a caller that is
// compiled for 7.0.0 knows nothing: it is there if caller and library are compiled with CMSIS_NN_LSTM_HIDDEN_STATE.
typedef struct {
  void *temp1;
  void *temp2;
  void *cell_state;
#ifdef CMSIS_NN_LSTM_HIDDEN_STATE
  void *hidden_state; // [batch_size, hidden_size] of the output's type, or NULL
#endif
} cmsis_nn_lstm_context;

// Axis d of the output is axis permutations[d] of the input.
typedef struct {
  const int32_t num_dims;
  const uint32_t *permutations;
} cmsis_nn_transpose_params;

#endif
