// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp_ratio.h"
#include "dsp_wide.h"

DSP_INLINE int32_t quotient(bool is_fast, const dsp_ratio *ratio, int32_t multiplier, int32_t shift, int32_t product) {
  return is_fast ? dsp_apply_ratio(ratio, product) : dmo_requantize(product, multiplier, shift);
}

DSP_INLINE void multiply(bool is_fast, const int16_t *vector1, const int16_t *vector2, int32_t multiplier,
                         int32_t shift, int32_t min, int32_t max, int16_t *output, int32_t count) {
  const dsp_ratio ratio = dsp_make_ratio(is_fast ? multiplier : 0, is_fast ? shift : 0);
  for (; count >= 2; count -= 2) {
    const uint32_t pair1 = dsp_load_pair(vector1), pair2 = dsp_load_pair(vector2);
    const int32_t low = quotient(is_fast, &ratio, multiplier, shift, dsp_low(pair1) * dsp_low(pair2));
    const int32_t high = quotient(is_fast, &ratio, multiplier, shift, dsp_high(pair1) * dsp_high(pair2));
    dsp_store_pair(output, dsp_pair(dmo_clamp(low, min, max), dmo_clamp(high, min, max)));
    vector1 += 2;
    vector2 += 2;
    output += 2;
  }
  if (count != 0) {
    *output = (int16_t)dmo_clamp(quotient(is_fast, &ratio, multiplier, shift, *vector1 * *vector2), min, max);
  }
}

arm_cmsis_nn_status arm_elementwise_mul_s16(const int16_t *input_1_vect, const int16_t *input_2_vect,
                                            const int32_t input_1_offset, const int32_t input_2_offset,
                                            int16_t *output, const int32_t out_offset, const int32_t out_mult,
                                            const int32_t out_shift, const int32_t out_activation_min,
                                            const int32_t out_activation_max, const int32_t block_size) {
  (void)input_1_offset;
  (void)input_2_offset;
  (void)out_offset;
  if (dsp_has_ratio(out_mult, out_shift)) {
    multiply(true, input_1_vect, input_2_vect, out_mult, out_shift, out_activation_min, out_activation_max, output,
             block_size);
  } else {
    multiply(false, input_1_vect, input_2_vect, out_mult, out_shift, out_activation_min, out_activation_max, output,
             block_size);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
