// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "plain.h"

arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *input_1_vect, const int8_t *input_2_vect,
                                           const int32_t input_1_offset, const int32_t input_2_offset,
                                           int8_t *output, const int32_t out_offset, const int32_t out_mult,
                                           const int32_t out_shift, const int32_t out_activation_min,
                                           const int32_t out_activation_max, const int32_t block_size) {
  enum { LARGEST_PRODUCT = 2 }; // no larger than two of those that plain_make_output counts
  const plain_output numbers = plain_make_output(out_offset, out_activation_min, out_activation_max, 1, &out_mult,
                                                 &out_shift, 0, NULL, LARGEST_PRODUCT);
  for (int32_t i = 0; i < block_size; ++i) {
    const int32_t product = (input_1_vect[i] + input_1_offset) * (input_2_vect[i] + input_2_offset);
    output[i] = plain_finish(&numbers, out_mult, out_shift, product);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
