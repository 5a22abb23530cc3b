// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast.h"
#include "dmo_broadcast_loop.h"

static int8_t prelu(const dmo_prelu_params *params, int32_t value, int32_t slope) {
  const dmo_quant_per_tensor *ratio = value >= 0 ? &params->positive : &params->negative;
  const int32_t product = value >= 0 ? value : value * slope;
  const int32_t scaled = dmo_requantize(product, ratio->multiplier, ratio->shift);
  return (int8_t)dmo_clamp(scaled + params->output_offset, INT8_MIN, INT8_MAX);
}

void dmo_prelu_s8(const dmo_prelu_params *params, const dmo_shape *input1_shape, const int8_t *input1,
                  const dmo_shape *input2_shape, const int8_t *input2,
                  const dmo_shape *output_shape, int8_t *output) {
  DMO_BROADCAST(int32_t, int32_t, prelu(params, a + params->input_offset, b + params->alpha_offset));
}
