// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle_operators.h"

#include <stddef.h>

int32_t oracle_svdf(const dmo_svdf_params *params, const dmo_svdf_size *size, int32_t state_bits,
                    const int8_t *history, const int8_t *feature_weights, const int16_t *time_weights,
                    const int32_t *bias, int32_t index) {
  const int32_t units = size->filters / size->rank;
  const int32_t batch = index / units;
  const int32_t unit = index % units;
  const int64_t limit = INT64_C(1) << (state_bits - 1);
  const int64_t zero_point = state_bits == 16 ? 0 : params->state_zero_point;
  int64_t sum = bias != NULL ? bias[unit] : 0;
  for (int32_t t = size->memory - 1; t >= 0; --t) {
    const int8_t *input = &history[(t * size->batches + batch) * size->inputs];
    for (int32_t filter = unit * size->rank; filter < (unit + 1) * size->rank; ++filter) {
      int64_t feature = 0;
      for (int32_t i = size->inputs - 1; i >= 0; --i) {
        feature += ((int64_t)input[i] + params->input_offset) * feature_weights[filter * size->inputs + i];
      }
      const int64_t scaled = oracle_requantize(feature, params->feature.multiplier, params->feature.shift);
      const int64_t wide = oracle_clamp(scaled, -limit, limit - 1) + zero_point;
      const int64_t state = wide < -limit ? wide + 2 * limit : wide >= limit ? wide - 2 * limit : wide;
      sum += (state - zero_point) * time_weights[filter * size->memory + t];
    }
  }
  const int64_t value = oracle_requantize(sum, params->time.multiplier, params->time.shift);
  return (int32_t)oracle_clamp(value + params->output_offset, -128, 127);
}

double oracle_svdf_f32(const dmo_svdf_size *size, const float *history, const float *feature_weights,
                       const float *time_weights, const float *bias, int32_t index) {
  const int32_t units = size->filters / size->rank, batch = index / units, unit = index % units;
  double sum = bias != NULL ? (double)bias[unit] : 0.0;
  for (int32_t t = size->memory - 1; t >= 0; --t) {
    const float *input = &history[(t * size->batches + batch) * size->inputs];
    for (int32_t filter = (unit + 1) * size->rank - 1; filter >= unit * size->rank; --filter) {
      for (int32_t i = size->inputs - 1; i >= 0; --i) {
        const double weight = (double)feature_weights[filter * size->inputs + i];
        sum += (double)input[i] * weight * (double)time_weights[filter * size->memory + t];
      }
    }
  }
  return sum;
}
