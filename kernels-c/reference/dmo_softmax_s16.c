// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_int16.h"

static int32_t interpolated(const int16_t *table, int32_t argument) {
  const int32_t position = dmo_clamp(argument, INT16_MIN, INT16_MAX) - INT16_MIN;
  const int16_t *sample = &table[position / 128];
  return sample[0] + (((sample[1] - sample[0]) * (position % 128) + 64) >> 7);
}

static int32_t row_max(int32_t depth, const int16_t *row) {
  int32_t max = INT16_MIN;
  for (int32_t i = 0; i < depth; ++i) {
    max = row[i] > max ? row[i] : max;
  }
  return max;
}

static int32_t leading_zeros(uint32_t value) {
  int32_t zeros = 0;
  while (value < UINT32_C(1) << 31) {
    value <<= 1;
    ++zeros;
  }
  return zeros;
}

void dmo_softmax_s16(const dmo_softmax_s16_params *params, int32_t rows, int32_t depth, const int16_t *input,
                     const int16_t *exp_table, const int16_t *reciprocal_table, int16_t *output) {
  for (int32_t r = 0; r < rows; ++r) {
    const int16_t *in = &input[r * depth];
    int16_t *out = &output[r * depth];
    const int32_t max = row_max(depth, in);
    int32_t sum = 0;
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t scaled = dmo_requantize(in[i] - max, params->input_beta.multiplier, params->input_beta.shift);
      const int32_t exponential = interpolated(exp_table, scaled + INT16_MAX);
      out[i] = (int16_t)exponential;
      sum += exponential;
    }
    // sum = 2^(31 - zeros) * (1 + fraction / 2^16).
    const int32_t zeros = leading_zeros((uint32_t)sum);
    const int32_t one_and_fraction = (int32_t)((((int64_t)sum << (zeros - 1)) + (1 << 13)) >> 14);
    const int32_t reciprocal = interpolated(reciprocal_table, one_and_fraction - (1 << 16) + INT16_MIN);
    const int32_t shift = 31 - zeros;
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t ratio = (out[i] * reciprocal + (INT32_C(1) << (shift - 1))) >> shift;
      out[i] = (int16_t)dmo_clamp(ratio, 0, INT16_MAX);
    }
  }
}
