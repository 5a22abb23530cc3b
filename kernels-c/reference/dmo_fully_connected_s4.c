// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_int4.h"

#include <stddef.h>

void dmo_fully_connected_s4(const dmo_fully_connected_params *params, const dmo_quant_per_tensor *quant,
                            int32_t batches, int32_t inputs, int32_t outputs,
                            const int8_t *input, const uint8_t *filter, const int32_t *bias, int8_t *output) {
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t o = 0; o < outputs; ++o) {
      int32_t sum = 0;
      for (int32_t i = 0; i < inputs; ++i) {
        const int32_t value = input[b * inputs + i];
        const int32_t weight = dmo_int4_weight(filter, o * inputs + i);
        sum += (value + params->input_offset) * (weight + params->filter_offset);
      }
      if (bias != NULL) {
        sum += bias[o];
      }
      sum = dmo_requantize(sum, quant->multiplier, quant->shift) + params->output_offset;
      output[b * outputs + o] = (int8_t)dmo_clamp(sum, params->activation_min, params->activation_max);
    }
  }
}
