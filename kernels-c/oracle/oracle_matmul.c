// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle.h"

#include <stddef.h>

int32_t oracle_fully_connected_s8(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                                  int32_t inputs, int32_t outputs,
                                  const int8_t *input, const int8_t *filter, const int32_t *bias, int32_t index) {
  const int8_t *values = &input[(int64_t)(index / outputs) * inputs];
  const int8_t *weights = &filter[(int64_t)(index % outputs) * inputs];
  int64_t sum = bias != NULL ? bias[index % outputs] : 0;
  for (int64_t i = inputs - 1; i >= 0; --i) {
    sum += ((int64_t)values[i] + params->input_offset) * ((int64_t)weights[i] + params->filter_offset);
  }
  const int64_t value = oracle_requantize(sum, quant->multiplier, quant->shift) + params->output_offset;
  return (int32_t)oracle_clamp(value, params->activation_min, params->activation_max);
}

float oracle_fully_connected_f32(const dmo_fully_connected_f32_params *params, int32_t inputs, int32_t outputs,
                                 const float *input, const float *filter, const float *bias, int32_t index) {
  const float *values = &input[(int64_t)(index / outputs) * inputs];
  const float *weights = &filter[(int64_t)(index % outputs) * inputs];
  double sum = bias != NULL ? (double)bias[index % outputs] : 0.0;
  for (int64_t i = inputs - 1; i >= 0; --i) {
    sum += (double)values[i] * (double)weights[i];
  }
  return (float)oracle_clamp_f64(sum, (double)params->activation_min, (double)params->activation_max);
}

int32_t oracle_matmul_s8(const dmo_matmul_size *size, const int8_t *a, const int8_t *b, int32_t index) {
  int64_t sum = 0;
  for (int64_t k = size->inner - 1; k >= 0; --k) {
    sum += (int64_t)a[index / size->columns * size->inner + k] * b[k * size->columns + index % size->columns];
  }
  return (int32_t)sum;
}

float oracle_matmul_f32(const dmo_matmul_size *size, const float *a, const float *b, int32_t index) {
  double sum = 0.0;
  for (int64_t k = size->inner - 1; k >= 0; --k) {
    sum += (double)a[index / size->columns * size->inner + k] *
           (double)b[k * size->columns + index % size->columns];
  }
  return (float)sum;
}
