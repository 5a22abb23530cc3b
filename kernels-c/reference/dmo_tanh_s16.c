// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_int16.h"
#include "dmo_map.h"
#include "dmo_sigmoid_table.h"

void dmo_tanh_s16(const dmo_sigmoid_s16_params *params, const uint16_t *table, int32_t count, const int16_t *input,
                  int16_t *output) {
  const int32_t half = params->shift > 0 ? 1 << (params->shift - 1) : 0;
  DMO_MAP(int32_t, dmo_table_tanh(table, (x * params->multiplier + half) >> params->shift));
}
