// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_int16.h"

#include <stddef.h>

void dmo_fully_connected_s16(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                             int32_t batches, int32_t inputs, int32_t outputs,
                             const int16_t *input, const int8_t *filter, const int64_t *bias, int16_t *output) {
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t o = 0; o < outputs; ++o) {
      int64_t sum = 0;
      for (int32_t i = 0; i < inputs; ++i) {
        const int32_t value = input[b * inputs + i];
        const int32_t weight = filter[o * inputs + i];
        sum += value * weight;
      }
      if (bias != NULL) {
        sum += bias[o];
      }
      const int32_t scaled = dmo_requantize_wide(sum, quant->multiplier, quant->shift);
      output[b * outputs + o] = (int16_t)dmo_clamp(scaled, params->activation_min, params->activation_max);
    }
  }
}
