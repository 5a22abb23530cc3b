// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_cumulative_sum_loop.h"

static int8_t scaled(const dmo_cumulative_sum_quant *quant, uint32_t sum) {
  const int32_t value = dmo_requantize((int32_t)sum, quant->output.multiplier, quant->output.shift);
  return (int8_t)dmo_clamp(value + quant->output_offset, INT8_MIN, INT8_MAX);
}

static uint32_t fine(int32_t value) {
  return (uint32_t)(value * (INT32_C(1) << 19));
}

void dmo_cumulative_sum_s8(const dmo_cumulative_sum_params *params, const dmo_cumulative_sum_quant *quant,
                           const int8_t *input, int8_t *output) {
  const int32_t offset = quant->input_offset;
  uint32_t sum;
  if (params->exclusive != 0) {
    DMO_CUMULATIVE_SUM(sum = fine(offset), { output[at] = scaled(quant, sum); sum += fine(input[at] + offset); });
  } else {
    DMO_CUMULATIVE_SUM(sum = fine(offset), { sum += fine(input[at] + offset); output[at] = scaled(quant, sum); });
  }
}
