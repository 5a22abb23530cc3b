// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_svdf.h"

#include <stddef.h>

int32_t dmo_svdf_f32_scratch_bytes(const dmo_svdf_size *size) {
  return size->batches * size->filters * (int32_t)sizeof(float);
}

static float product(int32_t count, const float *a, const float *b) {
  float sum = 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

void dmo_svdf_f32(const dmo_svdf_f32_params *params, const dmo_svdf_size *size, const float *input,
                  const float *feature_weights, const float *time_weights, const float *bias,
                  float *state, float *output, float *scratch) {
  const int32_t units = size->filters / size->rank;
  const int32_t state_size = size->batches * size->filters * size->memory;

  for (int32_t i = 0; i + 1 < state_size; ++i) {
    state[i] = state[i + 1];
  }
  for (int32_t b = 0; b < size->batches; ++b) {
    for (int32_t f = 0; f < size->filters; ++f) {
      const float feature = product(size->inputs, &feature_weights[f * size->inputs], &input[b * size->inputs]);
      state[(b * size->filters + f + 1) * size->memory - 1] = feature;
    }
  }
  for (int32_t b = 0; b < size->batches; ++b) {
    for (int32_t f = 0; f < size->filters; ++f) {
      const float *past = &state[(b * size->filters + f) * size->memory];
      scratch[b * size->filters + f] = product(size->memory, &time_weights[f * size->memory], past);
    }
  }
  for (int32_t i = 0; i < size->batches * units; ++i) {
    float sum = bias != NULL ? bias[i % units] : 0.0f;
    for (int32_t r = 0; r < size->rank; ++r) {
      sum += scratch[i * size->rank + r];
    }
    output[i] = dmo_clamp_f32(sum, params->activation_min, params->activation_max);
  }
}
