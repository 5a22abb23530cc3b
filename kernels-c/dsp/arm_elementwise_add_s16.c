// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp_ratio.h"
#include "dsp_wide.h"

typedef struct {
  int32_t multiplier, shift;
} scale;

// What all elements share.
typedef struct {
  scale input1, input2, output;
  int32_t left_shift, min, max;
} addition;

// By dmo_requantize.
static int32_t add_exactly(const addition *a, int32_t value1, int32_t value2) {
  const int32_t unit = 1 << a->left_shift;
  const int32_t scaled1 = dmo_requantize(value1 * unit, a->input1.multiplier, a->input1.shift);
  const int32_t scaled2 = dmo_requantize(value2 * unit, a->input2.multiplier, a->input2.shift);
  return dmo_clamp(dmo_requantize(scaled1 + scaled2, a->output.multiplier, a->output.shift), a->min, a->max);
}

static void add_all_exactly(const addition *a, const int16_t *vector1, const int16_t *vector2, int16_t *output,
                            int32_t count) {
  for (; count > 0; --count) {
    *output++ = (int16_t)add_exactly(a, *vector1++, *vector2++);
  }
}

// Whether all three ratios are fast, and no sum is more than 2^30: sums grow with their terms, and the terms with the
// inputs.
static bool is_fast(const addition *a) {
  enum { MOST_LEFT_SHIFT = 15, MOST = 1 << 30 };
  if (!dsp_has_ratio(a->input1.multiplier, a->input1.shift) ||
      !dsp_has_ratio(a->input2.multiplier, a->input2.shift) ||
      !dsp_has_ratio(a->output.multiplier, a->output.shift) || a->left_shift > MOST_LEFT_SHIFT) {
    return false;
  }
  const int32_t unit = 1 << a->left_shift;
  const int32_t least = dmo_requantize(INT16_MIN * unit, a->input1.multiplier, a->input1.shift) +
                        dmo_requantize(INT16_MIN * unit, a->input2.multiplier, a->input2.shift);
  const int32_t most = dmo_requantize(INT16_MAX * unit, a->input1.multiplier, a->input1.shift) +
                       dmo_requantize(INT16_MAX * unit, a->input2.multiplier, a->input2.shift);
  return least >= -MOST && most <= MOST;
}

// Of the two inputs, the one with the larger scale mostly has a shift of 0.
DSP_INLINE void add(const addition *shared, bool is_whole1, const int16_t *vector1, const int16_t *vector2,
                    int16_t *output, int32_t count) {
  const addition a = *shared; // a copy, which a store to the output cannot change
  const dsp_ratio ratio1 = dsp_make_ratio(a.input1.multiplier, a.input1.shift);
  const dsp_ratio ratio2 = dsp_make_ratio(a.input2.multiplier, a.input2.shift);
  const dsp_ratio ratio = dsp_make_ratio(a.output.multiplier, a.output.shift);
  while (count > 0) {
    const bool is_pair = count >= 2;
    const uint32_t pair1 = is_pair ? dsp_load_pair(vector1) : dsp_pair(*vector1, 0);
    const uint32_t pair2 = is_pair ? dsp_load_pair(vector2) : dsp_pair(*vector2, 0);
    int32_t value[2];
    for (int32_t i = 0; i < 2; ++i) {
      const int32_t value1 = (i == 0 ? dsp_low(pair1) : dsp_high(pair1)) * (1 << a.left_shift);
      const int32_t value2 = (i == 0 ? dsp_low(pair2) : dsp_high(pair2)) * (1 << a.left_shift);
      const int32_t scaled1 = is_whole1 ? dsp_multiply_ratio(&ratio1, value1) : dsp_apply_ratio(&ratio1, value1);
      const int32_t sum = scaled1 + dsp_apply_ratio(&ratio2, value2);
      value[i] = dmo_clamp(dsp_apply_ratio(&ratio, sum), a.min, a.max);
    }
    if (is_pair) {
      dsp_store_pair(output, dsp_pair(value[0], value[1]));
    } else {
      *output = (int16_t)value[0];
    }
    vector1 += 2;
    vector2 += 2;
    output += 2;
    count -= 2;
  }
}

DSP_OUT_OF_LINE static void add_whole(const addition *a, const int16_t *vector1, const int16_t *vector2,
                                      int16_t *output, int32_t count) {
  add(a, true, vector1, vector2, output, count);
}

DSP_OUT_OF_LINE static void add_any(const addition *a, const int16_t *vector1, const int16_t *vector2,
                                    int16_t *output, int32_t count) {
  add(a, false, vector1, vector2, output, count);
}

arm_cmsis_nn_status arm_elementwise_add_s16(const int16_t *input_1_vect, const int16_t *input_2_vect,
                                            const int32_t input_1_offset, const int32_t input_1_mult,
                                            const int32_t input_1_shift, const int32_t input_2_offset,
                                            const int32_t input_2_mult, const int32_t input_2_shift,
                                            const int32_t left_shift, int16_t *output, const int32_t out_offset,
                                            const int32_t out_mult, const int32_t out_shift,
                                            const int32_t out_activation_min, const int32_t out_activation_max,
                                            const int32_t block_size) {
  (void)input_1_offset;
  (void)input_2_offset;
  (void)out_offset;
  addition a = { { input_1_mult, input_1_shift }, { input_2_mult, input_2_shift }, { out_mult, out_shift },
                 left_shift, out_activation_min, out_activation_max };
  if (!is_fast(&a)) {
    add_all_exactly(&a, input_1_vect, input_2_vect, output, block_size);
  } else if (input_1_shift == 0) {
    add_whole(&a, input_1_vect, input_2_vect, output, block_size);
  } else if (input_2_shift == 0) {
    // The sum is the same the other way round.
    a.input1 = (scale){ input_2_mult, input_2_shift };
    a.input2 = (scale){ input_1_mult, input_1_shift };
    add_whole(&a, input_2_vect, input_1_vect, output, block_size);
  } else {
    add_any(&a, input_1_vect, input_2_vect, output, block_size);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
