// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp.h"

#include <stddef.h>

DSP_INLINE void multiply(dsp_way way, int32_t offset1, int32_t offset2, const dsp_range *shared_range,
                         int32_t multiplier, int32_t shift, const int8_t *vector1, const int8_t *vector2,
                         int8_t *output, int32_t count) {
  const dsp_range range = *shared_range; // a copy, which a store to the output cannot change
  const dsp_channel channel = dsp_make_channel(way, &range, multiplier, shift);
  while (count > 0) {
    const bool whole = count >= 4;
    const uint32_t four1 = whole ? dsp_load4(vector1) : dsp_load_some(vector1, count);
    const uint32_t four2 = whole ? dsp_load4(vector2) : dsp_load_some(vector2, count);
    int32_t value[4];
    for (int32_t i = 0; i < 4; ++i) {
      const int32_t product = ((int8_t)(four1 >> (8 * i)) + offset1) * ((int8_t)(four2 >> (8 * i)) + offset2);
      value[i] = dsp_requantize(way, &range, channel, way == DSP_EXACT ? product : 2 * product);
    }
    const uint32_t word = dsp_pack4(value[0], value[1], value[2], value[3]);
    if (whole) {
      dsp_store4(output, word);
    } else {
      dsp_store_some(output, word, count);
    }
    vector1 += 4;
    vector2 += 4;
    output += 4;
    count -= 4;
  }
}

arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *input_1_vect, const int8_t *input_2_vect,
                                           const int32_t input_1_offset, const int32_t input_2_offset,
                                           int8_t *output, const int32_t out_offset, const int32_t out_mult,
                                           const int32_t out_shift, const int32_t out_activation_min,
                                           const int32_t out_activation_max, const int32_t block_size) {
  enum { LARGEST_PRODUCT = 2 }; // no larger than two of those that dsp_choose_way counts
  const dsp_range range = dsp_make_range(out_offset, out_activation_min, out_activation_max);
  if (dsp_choose_way(&range, 1, &out_mult, &out_shift, NULL, LARGEST_PRODUCT) != DSP_EXACT) {
    multiply(DSP_CLAMP, input_1_offset, input_2_offset, &range, out_mult, out_shift, input_1_vect, input_2_vect,
             output, block_size);
  } else {
    multiply(DSP_EXACT, input_1_offset, input_2_offset, &range, out_mult, out_shift, input_1_vect, input_2_vect,
             output, block_size);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
