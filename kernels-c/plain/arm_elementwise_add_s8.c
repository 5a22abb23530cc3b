// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "plain.h"

// One input: (byte + offset) * 2^left_shift, requantised.
typedef struct {
  int32_t offset, left_shift, multiplier, shift;
} add_input;

typedef struct {
  int32_t offset, min, max;
} output_range;

PLAIN_INLINE int32_t requantize(bool is_fast, int32_t sum, int32_t multiplier, int32_t shift) {
  return is_fast ? plain_requantize(sum, multiplier, shift) : plain_requantize_any(sum, multiplier, shift);
}

PLAIN_INLINE int32_t scale(bool is_fast, const add_input *input, int32_t byte) {
  const int32_t value = (byte + input->offset) * (INT32_C(1) << input->left_shift);
  return requantize(is_fast, value, input->multiplier, input->shift);
}

PLAIN_INLINE void add(bool is_fast, add_input input1, add_input input2, output_range range, int32_t multiplier,
                      int32_t shift, const int8_t *vector1, const int8_t *vector2, int8_t *output, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t sum = scale(is_fast, &input1, vector1[i]) + scale(is_fast, &input2, vector2[i]);
    const int32_t value = requantize(is_fast, sum, multiplier, shift);
    output[i] = (int8_t)dmo_clamp(value + range.offset, range.min, range.max);
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
  const add_input input1 = { input_1_offset, left_shift, input_1_mult, input_1_shift };
  const add_input input2 = { input_2_offset, left_shift, input_2_mult, input_2_shift };
  // Each input lies below 2^28, so that their sum is small.
  const output_range range = { out_offset, out_activation_min, out_activation_max };
  if (plain_is_fast(out_mult, out_shift) && plain_is_fast(input_1_mult, input_1_shift) &&
      plain_is_fast(input_2_mult, input_2_shift) && left_shift >= 0 && left_shift <= 20) {
    add(true, input1, input2, range, out_mult, out_shift, input_1_vect, input_2_vect, output, block_size);
  } else {
    add(false, input1, input2, range, out_mult, out_shift, input_1_vect, input_2_vect, output, block_size);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
