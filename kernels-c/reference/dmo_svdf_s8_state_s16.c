// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_svdf.h"

#include <stddef.h>

int32_t dmo_svdf_s8_scratch_bytes(const dmo_svdf_size *size) {
  return size->batches * (size->filters + size->filters / size->rank) * (int32_t)sizeof(int32_t);
}

void dmo_svdf_s8_state_s16(const dmo_svdf_params *params, const dmo_svdf_size *size, const int8_t *input,
                           const int8_t *feature_weights, const int16_t *time_weights, const int32_t *bias,
                           int16_t *state, int8_t *output, int32_t *scratch) {
  const int32_t units = size->filters / size->rank;
  const int32_t state_size = size->batches * size->filters * size->memory;
  int32_t *filter_sums = scratch;
  int32_t *unit_sums = &scratch[size->batches * size->filters];

  for (int32_t i = 0; i + 1 < state_size; ++i) {
    state[i] = state[i + 1];
  }
  for (int32_t b = 0; b < size->batches; ++b) {
    for (int32_t f = 0; f < size->filters; ++f) {
      int32_t sum = 0;
      for (int32_t i = 0; i < size->inputs; ++i) {
        sum += (input[b * size->inputs + i] + params->input_offset) * feature_weights[f * size->inputs + i];
      }
      sum = dmo_requantize(sum, params->feature.multiplier, params->feature.shift);
      state[(b * size->filters + f + 1) * size->memory - 1] = (int16_t)dmo_clamp(sum, INT16_MIN, INT16_MAX);
    }
  }
  for (int32_t b = 0; b < size->batches; ++b) {
    for (int32_t f = 0; f < size->filters; ++f) {
      const int16_t *past = &state[(b * size->filters + f) * size->memory];
      int32_t *sum = &filter_sums[b * size->filters + f];
      *sum = 0;
      for (int32_t t = 0; t < size->memory; ++t) {
        *sum = (int32_t)((uint32_t)*sum + (uint32_t)(past[t] * time_weights[f * size->memory + t]));
      }
    }
  }
  for (int32_t i = 0; i < size->batches * units; ++i) {
    unit_sums[i] = bias != NULL ? bias[i % units] : 0;
  }
  for (int32_t i = 0; i < size->batches * units; ++i) {
    for (int32_t r = 0; r < size->rank; ++r) {
      unit_sums[i] = (int32_t)((uint32_t)unit_sums[i] + (uint32_t)filter_sums[i * size->rank + r]);
    }
  }
  for (int32_t i = 0; i < size->batches * units; ++i) {
    const int32_t value = dmo_requantize(unit_sums[i], params->time.multiplier, params->time.shift);
    output[i] = (int8_t)dmo_clamp(value + params->output_offset, INT8_MIN, INT8_MAX);
  }
}
