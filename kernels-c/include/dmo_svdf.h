// SPDX-License-Identifier: MIT OR Apache-2.0
//
// SVDF: a fully connected layer over time whose weights have been factored into features and time; input and output of
// 8 bits, or floats. Output, input and scratch do not overlap unless a planner proved it safe (see dmo_conv.h); the state overlaps
// nothing and persists from one call to the next.
#ifndef DMO_SVDF_H
#define DMO_SVDF_H

#include "dmo_quantize.h"

#ifdef __cplusplus
extern "C" {
#endif

// units = filters / rank, without remainder.
typedef struct {
  int32_t batches, inputs, filters, rank, memory;
} dmo_svdf_size;

typedef struct {
  int32_t input_offset;      // [-128, 128]
  int32_t state_zero_point;  // 16-bit state: 0 and not read; 8-bit state: [-128, 127]
  int32_t output_offset;     // [-128, 127]
  dmo_quant_per_tensor feature; // input scale * feature weights' scale / state scale
  dmo_quant_per_tensor time;    // state scale * time weights' scale / output scale
} dmo_svdf_params;

// Bytes of scratch, of both versions: one int32_t for each batch and filter, then one for each batch and unit.
int32_t dmo_svdf_s8_scratch_bytes(const dmo_svdf_size *size);

//   state[b, f, memory - 1] = state_zero_point + saturate(requantize_feature(
//                             sum (input[b, i] + input_offset) * feature_weights[f, i]))
//   output[b, u] = saturate(output_offset + requantize_time(bias[u] +
//                           sum over the unit's filters f and over t of
//                           time_weights[f, t] * (state[b, f, t] - state_zero_point)))
//
// A state of 8 bits saturates before the zero point is added, and then keeps the lowest 8 bits: the same as TensorFlow
// Lite Micro, whose state wraps around where the zero point is not 0. Sums over a state of 16 bits wrap around.
//
// input [batches, inputs], feature_weights [filters, inputs], time_weights [filters, memory], bias [units] or NULL for
// none, state [batches, filters, memory], output [batches, units]. Unit u owns filters u * rank to u * rank + rank - 1.
// Order: moves the whole state down by one element; loops b, f | i, each f of which stores the newest state; loops
// b, f | t, adding to the scratch; stores the bias to the scratch's second part; loops b, u, r, adding the first part
// to the second; loops b, u, each of which loads that and stores one output element. Thus every load of the input comes
// before every store of the output.
void dmo_svdf_s8_state_s16(const dmo_svdf_params *params, const dmo_svdf_size *size, const int8_t *input,
                           const int8_t *feature_weights, const int16_t *time_weights, const int32_t *bias,
                           int16_t *state, int8_t *output, int32_t *scratch);
void dmo_svdf_s8_state_s8(const dmo_svdf_params *params, const dmo_svdf_size *size, const int8_t *input,
                          const int8_t *feature_weights, const int8_t *time_weights, const int32_t *bias,
                          int8_t *state, int8_t *output, int32_t *scratch);

typedef struct {
  float activation_min, activation_max;
} dmo_svdf_f32_params;

// Bytes of scratch: one float for each batch and filter.
int32_t dmo_svdf_f32_scratch_bytes(const dmo_svdf_size *size);

// The same in single precision, without offsets and ratios; the output is clamped. Sums begin at 0, or at the bias, and go
// upwards. Order: as above; each output element is stored once, after every load of the input.
void dmo_svdf_f32(const dmo_svdf_f32_params *params, const dmo_svdf_size *size, const float *input,
                  const float *feature_weights, const float *time_weights, const float *bias,
                  float *state, float *output, float *scratch);

#ifdef __cplusplus
}
#endif

#endif
