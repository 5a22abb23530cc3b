// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"

enum { MAX_AXES = 4 };

// Every step-th byte of the input, each stored before the next one is loaded.
static inline int8_t *gather(const int8_t *input, int32_t step, int8_t *output, int32_t count) {
  int8_t *const end = output + count;
  if ((count & 1) != 0) {
    *output++ = *input;
    input += step;
  }
  while (output != end) {
    output[0] = *input;
    input += step;
    output[1] = *input;
    input += step;
    output += 2;
  }
  return output;
}

arm_cmsis_nn_status arm_transpose_s8(const int8_t *input_data, int8_t *const output_data,
                                     const cmsis_nn_dims *const input_dims, const cmsis_nn_dims *const output_dims,
                                     const cmsis_nn_transpose_params *const transpose_params) {
  (void)output_dims;
  const int32_t axes = transpose_params->num_dims;
  const uint32_t *const permutation = transpose_params->permutations;
  const int32_t extents[MAX_AXES] = { input_dims->n, input_dims->h, input_dims->w, input_dims->c };
  if (axes < 1 || axes > MAX_AXES) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  int32_t strides[MAX_AXES] = { 1, 1, 1, 1 };
  for (int32_t axis = axes - 2; axis >= 0; --axis) {
    strides[axis] = strides[axis + 1] * extents[axis + 1];
  }
  // The output's axes, the missing ones in front, and by how much the input moves along each.
  int32_t count[MAX_AXES] = { 1, 1, 1, 1 }, step[MAX_AXES] = { 0, 0, 0, 0 };
  uint32_t seen = 0;
  for (int32_t axis = 0; axis < axes; ++axis) {
    const uint32_t from = permutation[axis];
    if (from >= (uint32_t)axes || (seen & UINT32_C(1) << from) != 0) {
      return ARM_CMSIS_NN_ARG_ERROR;
    }
    seen |= UINT32_C(1) << from;
    count[MAX_AXES - axes + axis] = extents[from];
    step[MAX_AXES - axes + axis] = strides[from];
  }
  if (step[2] == step[3] * count[3]) {
    // The last two axes of the output are one.
    count[3] *= count[2];
    count[2] = 1;
  }
  const int8_t *plane = input_data;
  int8_t *out = output_data;
  for (int32_t a = count[0]; a > 0; --a, plane += step[0]) {
    const int8_t *block = plane;
    for (int32_t b = count[1]; b > 0; --b, block += step[1]) {
      const int8_t *row = block;
      for (int32_t c = count[2]; c > 0; --c, row += step[2]) {
        out = gather(row, step[3], out, count[3]);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
