// SPDX-License-Identifier: MIT OR Apache-2.0
#include "arm_nnfunctions.h"
#include "dsp_wide.h"

int32_t arm_fully_connected_s16_get_buffer_size(const cmsis_nn_dims *filter_dims) {
  (void)filter_dims;
  return 0;
}

// Columns whose sums fit in 32 bits, by whole groups.
enum { MOST_COLUMNS = DSP_WIDE_PRODUCTS & ~3 };

DSP_INLINE void multiply_four(const int8_t *filter, uint32_t even, uint32_t odd, int32_t *sum) {
  const uint32_t four = dsp_load4(filter);
  *sum = dsp_multiply_pairs(dsp_even(four), even, *sum);
  *sum = dsp_multiply_pairs(dsp_odd(four), odd, *sum);
}

// Adds to the sums of `filters` outputs, 1 to 4, whose filters are `apart` bytes apart: the columns up to an end, whole
// groups of four, at least one and at most MOST_COLUMNS.
DSP_INLINE void multiply_groups(const int16_t *input, const int8_t *filter, int32_t apart, const int16_t *end,
                                int32_t filters, int32_t *sums) {
  int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
  const int8_t *third = filter + 2 * apart;
  for (; input != end; input += 4) {
    const uint32_t first = dsp_load_pair(input), second = dsp_load_pair(input + 2);
    const uint32_t even = dsp_lows(first, second), odd = dsp_highs(first, second);
    multiply_four(filter, even, odd, &sum0);
    if (filters > 1) {
      multiply_four(filter + apart, even, odd, &sum1);
    }
    if (filters > 2) {
      multiply_four(third, even, odd, &sum2);
    }
    if (filters > 3) {
      multiply_four(third + apart, even, odd, &sum3);
    }
    filter += 4;
    third += 4;
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
}

DSP_OUT_OF_LINE static void multiply_groups_by_1(const int16_t *input, const int8_t *filter, int32_t apart,
                                                 const int16_t *end, int32_t *sums) {
  multiply_groups(input, filter, apart, end, 1, sums);
}

DSP_OUT_OF_LINE static void multiply_groups_by_2(const int16_t *input, const int8_t *filter, int32_t apart,
                                                 const int16_t *end, int32_t *sums) {
  multiply_groups(input, filter, apart, end, 2, sums);
}

DSP_OUT_OF_LINE static void multiply_groups_by_3(const int16_t *input, const int8_t *filter, int32_t apart,
                                                 const int16_t *end, int32_t *sums) {
  multiply_groups(input, filter, apart, end, 3, sums);
}

#if DSP_INSTRUCTIONS

//   r0 input   r1, r10 first and third filter   r2 apart   r3 end   r4 to r7 sums   r8, lr even and odd columns
//   r9 temporary   r11, r12 weights
#define MULTIPLY(weights, sum)                  \
  "sxtb16 r9, " weights "\n\t"                  \
  "sxtb16 " weights ", " weights ", ror #8\n\t" \
  "smlad " sum ", r9, r8, " sum "\n\t"          \
  "smlad " sum ", " weights ", lr, " sum "\n\t"
DSP_NAKED static void multiply_groups_by_4(DSP_UNUSED const int16_t *input, DSP_UNUSED const int8_t *filter,
                                           DSP_UNUSED int32_t apart, DSP_UNUSED const int16_t *end,
                                           DSP_UNUSED int32_t *sums) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldr r12, [sp, #36]\n\t"
                   "ldm r12, {r4, r5, r6, r7}\n\t"
                   "add.w r10, r1, r2, lsl #1\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   "ldr.w r9, [r0, #4]\n\t"
                   "ldr.w r8, [r0], #8\n\t"
                   "ldr.w r11, [r1, r2]\n\t"
                   "ldr.w r12, [r1], #4\n\t"
                   "pkhtb lr, r9, r8, asr #16\n\t"
                   "pkhbt r8, r8, r9, lsl #16\n\t"
                   MULTIPLY("r11", "r5") MULTIPLY("r12", "r4")
                   "ldr.w r11, [r10, r2]\n\t"
                   "ldr.w r12, [r10], #4\n\t"
                   "cmp.w r0, r3\n\t"
                   MULTIPLY("r11", "r7") MULTIPLY("r12", "r6")
                   "bne.w 1b\n\t"
                   "ldr r12, [sp, #36]\n\t"
                   "stm r12, {r4, r5, r6, r7}\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#else

static void multiply_groups_by_4(const int16_t *input, const int8_t *filter, int32_t apart, const int16_t *end,
                                 int32_t *sums) {
  multiply_groups(input, filter, apart, end, 4, sums);
}

#endif

static void multiply_some_groups(const int16_t *input, const int8_t *filter, int32_t apart, const int16_t *end,
                                 int32_t filters, int32_t *sums) {
  switch (filters) {
  case 1:
    multiply_groups_by_1(input, filter, apart, end, sums);
    break;
  case 2:
    multiply_groups_by_2(input, filter, apart, end, sums);
    break;
  case 3:
    multiply_groups_by_3(input, filter, apart, end, sums);
    break;
  default:
    multiply_groups_by_4(input, filter, apart, end, sums);
    break;
  }
}

// At most DSP_WIDE_PRODUCTS columns of 1 to 4 filters that are `apart` bytes apart, added to the sums.
DSP_INLINE void multiply_columns(const int16_t *input, const int8_t *filter, int32_t apart, int32_t columns,
                                 int32_t filters, int32_t *sums) {
  const int32_t grouped = columns & ~3;
  for (int32_t i = grouped; i < columns; ++i) {
    const int32_t value = input[i];
    const int8_t *weight = &filter[i];
    if (filters == 4) {
      sums[0] += value * weight[0];
      sums[1] += value * weight[apart];
      sums[2] += value * weight[2 * apart];
      sums[3] += value * weight[3 * apart];
    } else {
      for (int32_t f = 0; f < filters; ++f) {
        sums[f] += value * *weight;
        weight += apart;
      }
    }
  }
  if (grouped != 0) {
    multiply_some_groups(input, filter, apart, input + grouped, filters, sums);
  }
}

// One batch, by scales that are fast.
static void multiply_fast(const int16_t *input, const int8_t *filter, int32_t columns, int32_t outputs,
                          const dsp_scales *shared, int16_t *output) {
  const dsp_scales scales = *shared; // a copy, which a store to the output cannot change
  const dsp_wide_channel channel = dsp_make_wide(&scales);
  const int64_t *bias = scales.bias;
  while (outputs > 0) {
    const int32_t filters = outputs < 4 ? outputs : 4;
    int32_t sums[4];
    for (int32_t f = 0; f < filters; ++f) {
      sums[f] = (int32_t)*bias;
      bias += scales.bias_step;
    }
    multiply_columns(input, filter, columns, columns, filters, sums);
    for (int32_t f = 0; f < filters; ++f) {
      *output++ = (int16_t)dmo_clamp(dsp_requantize_fast(channel, sums[f]), scales.min, scales.max);
    }
    filter += 4 * columns;
    outputs -= filters;
  }
}

// By any scales and any number of columns.
static void multiply_exactly(const int16_t *input, const int8_t *filter, int32_t columns, int32_t outputs,
                             const dsp_scales *shared, int16_t *output) {
  const dsp_scales scales = *shared;
  const int64_t *bias = scales.bias;
  while (outputs > 0) {
    const int32_t filters = outputs < 4 ? outputs : 4;
    int64_t sums[4] = { 0, 0, 0, 0 };
    for (int32_t i = 0; i < columns; i += MOST_COLUMNS) {
      int32_t sum[4] = { 0, 0, 0, 0 };
      const int32_t block = columns - i < MOST_COLUMNS ? columns - i : MOST_COLUMNS;
      multiply_columns(input + i, filter + i, columns, block, filters, sum);
      for (int32_t f = 0; f < filters; ++f) {
        sums[f] += sum[f];
      }
    }
    for (int32_t f = 0; f < filters; ++f) {
      const int32_t value = dsp_requantize_wide_exactly(sums[f] + *bias, *scales.multiplier, *scales.shift);
      *output++ = (int16_t)dmo_clamp(value, scales.min, scales.max);
      bias += scales.bias_step;
    }
    filter += 4 * columns;
    outputs -= filters;
  }
}

arm_cmsis_nn_status arm_fully_connected_s16(const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
                                            const cmsis_nn_per_tensor_quant_params *quant_params,
                                            const cmsis_nn_dims *input_dims, const int16_t *input_data,
                                            const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                                            const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
                                            const cmsis_nn_dims *output_dims, int16_t *output_data) {
  (void)ctx;
  (void)bias_dims;
  const int32_t inputs = filter_dims->n, outputs = output_dims->c;
  const dsp_scales scales = dsp_make_scales(&quant_params->multiplier, &quant_params->shift, bias_data,
                                            fc_params->activation.min, fc_params->activation.max);
  const bool is_fast = dsp_are_fast(&scales, outputs, true, inputs);
  for (int32_t b = input_dims->n; b > 0; --b) {
    (is_fast ? multiply_fast : multiply_exactly)(input_data, filter_data, inputs, outputs, &scales, output_data);
    input_data += inputs;
    output_data += outputs;
  }
  return ARM_CMSIS_NN_SUCCESS;
}
