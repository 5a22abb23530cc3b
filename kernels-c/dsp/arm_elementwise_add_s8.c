// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp.h"

#include <stddef.h>

// One input: (byte + offset) * 2^left_shift, requantised.
typedef struct {
  int32_t offset, left_shift, multiplier, shift;
  int32_t half;     // 2^(-shift - 1), or 0 for shift 0
  int32_t negative; // what is added for a negative value before the division: -1, or 0 for shift 0
} add_input;

DSP_INLINE add_input make_input(int32_t offset, int32_t left_shift, int32_t multiplier, int32_t shift) {
  return (add_input){ offset, left_shift, multiplier, shift, shift < 0 ? INT32_C(1) << ~shift : 0, shift < 0 ? -1 : 0 };
}

// The fast way takes any shift that is not positive: the value lies below 2^28.
DSP_INLINE int32_t scale(dsp_way way, const add_input *input, int32_t byte) {
  if (way == DSP_EXACT) {
    return dmo_requantize((byte + input->offset) * (INT32_C(1) << input->left_shift), input->multiplier, input->shift);
  }
  const int32_t doubled = (int32_t)((uint32_t)(byte + input->offset) << (input->left_shift + 1));
  const int32_t bias = input->half + (doubled >> 31 & input->negative);
  return dsp_multiply_top(doubled, input->multiplier, bias) >> -input->shift;
}

DSP_INLINE void add(dsp_way way, const add_input *shared1, const add_input *shared2, const dsp_range *shared_range,
                    int32_t out_mult, int32_t out_shift, const int8_t *vector1, const int8_t *vector2, int8_t *output,
                    int32_t count) {
  // Copies, which a store to the output cannot change.
  const add_input input1 = *shared1, input2 = *shared2;
  const dsp_range range = *shared_range;
  const dsp_channel channel = dsp_make_channel(way, &range, out_mult, out_shift);
  while (count > 0) {
    const bool whole = count >= 4;
    const uint32_t four1 = whole ? dsp_load4(vector1) : dsp_load_some(vector1, count);
    const uint32_t four2 = whole ? dsp_load4(vector2) : dsp_load_some(vector2, count);
    int32_t value[4];
    for (int32_t i = 0; i < 4; ++i) {
      const int32_t sum =
          scale(way, &input1, (int8_t)(four1 >> (8 * i))) + scale(way, &input2, (int8_t)(four2 >> (8 * i)));
      value[i] = dsp_requantize(way, &range, channel, way == DSP_EXACT ? sum : 2 * sum);
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

arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *input_1_vect, const int8_t *input_2_vect,
                                           const int32_t input_1_offset, const int32_t input_1_mult,
                                           const int32_t input_1_shift, const int32_t input_2_offset,
                                           const int32_t input_2_mult, const int32_t input_2_shift,
                                           const int32_t left_shift, int8_t *output, const int32_t out_offset,
                                           const int32_t out_mult, const int32_t out_shift,
                                           const int32_t out_activation_min, const int32_t out_activation_max,
                                           const int32_t block_size) {
  const dsp_range range = dsp_make_range(out_offset, out_activation_min, out_activation_max);
  const add_input input1 = make_input(input_1_offset, left_shift, input_1_mult, input_1_shift);
  const add_input input2 = make_input(input_2_offset, left_shift, input_2_mult, input_2_shift);
  const bool fast = input_1_mult >= 0 && input_1_shift <= 0 && input_2_mult >= 0 && input_2_shift <= 0 &&
                    left_shift >= 0 && left_shift <= 20 &&
                    dsp_choose_way(&range, 1, &out_mult, &out_shift, NULL, 0) != DSP_EXACT;
  if (fast) {
    add(DSP_CLAMP, &input1, &input2, &range, out_mult, out_shift, input_1_vect, input_2_vect, output, block_size);
  } else {
    add(DSP_EXACT, &input1, &input2, &range, out_mult, out_shift, input_1_vect, input_2_vect, output, block_size);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
