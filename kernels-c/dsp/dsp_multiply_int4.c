// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_int4.h"

void dsp_multiply_int4_pixels(const dsp_int4_filters *filters, dsp_table *table, uint32_t *rows, int8_t *weights,
                              int32_t pixels, int8_t *output, int32_t pixel_bytes) {
  const int32_t columns = filters->columns, channels = filters->filters.channels;
  int8_t *const output1 = pixels > 1 ? output + pixel_bytes : output;
  int8_t *const output2 = pixels > 2 ? output1 + pixel_bytes : output1;
  int8_t *const output3 = pixels > 3 ? output2 + pixel_bytes : output2;
  int8_t *const outputs[DSP_ROWS] = { output, output1, output2, output3 };
  dsp_mix_rows(rows, columns);
  for (int32_t c = 0; c < channels; c += 2) {
    // A last channel goes with the one before it, whose outputs are stored again.
    const int32_t first = c + 1 < channels || c == 0 ? c : c - 1;
    const int32_t count = channels == 1 ? 1 : 2;
    for (int32_t i = 0; i < count; ++i) {
      dsp_unpack_mixed(filters->packed, filters->first + (first + i) * columns, columns,
                       &weights[i * filters->filters.columns]);
    }
    dsp_multiply_channels(&filters->filters, table, weights, first, count, outputs);
  }
}
