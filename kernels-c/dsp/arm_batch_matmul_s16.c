// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_batches.h"
#include "dsp_wide.h"

// Adds to two sums the products of a row, up to its end, with two others; whole groups of four, at least one.
#if DSP_INSTRUCTIONS

//   r0 row   r1, r2 the others   r3 end   r4 to r7 sums   r8, r9 row   r10, r11 first   r12, lr second
DSP_NAKED static void multiply_groups(DSP_UNUSED const int16_t *row, DSP_UNUSED const int16_t *first,
                                      DSP_UNUSED const int16_t *second, DSP_UNUSED const int16_t *end,
                                      DSP_UNUSED int64_t *sums) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldr r12, [sp, #36]\n\t"
                   "ldm r12, {r4, r5, r6, r7}\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   "ldr.w r9, [r0, #4]\n\t"
                   "ldr.w r8, [r0], #8\n\t"
                   "ldr.w r11, [r1, #4]\n\t"
                   "ldr.w r10, [r1], #8\n\t"
                   "ldr.w lr, [r2, #4]\n\t"
                   "ldr.w r12, [r2], #8\n\t"
                   "cmp.w r0, r3\n\t"
                   "smlald r4, r5, r8, r10\n\t"
                   "smlald r6, r7, r8, r12\n\t"
                   "smlald r4, r5, r9, r11\n\t"
                   "smlald r6, r7, r9, lr\n\t"
                   "bne.w 1b\n\t"
                   "ldr r12, [sp, #36]\n\t"
                   "stm r12, {r4, r5, r6, r7}\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#else

static void multiply_groups(const int16_t *row, const int16_t *first, const int16_t *second, const int16_t *end,
                            int64_t *sums) {
  while (row != end) {
    sums[0] += (int64_t)*row * *first++;
    sums[1] += (int64_t)*row++ * *second++;
  }
}

#endif

// The products of one row with two others.
static void multiply_rows(const int16_t *row, const int16_t *first, const int16_t *second, int32_t inner,
                          int64_t *sums) {
  const int32_t grouped = inner & ~3;
  int64_t sum0 = 0, sum1 = 0;
  for (int32_t k = grouped; k < inner; ++k) {
    sum0 += (int64_t)row[k] * first[k];
    sum1 += (int64_t)row[k] * second[k];
  }
  sums[0] = sum0;
  sums[1] = sum1;
  if (grouped != 0) {
    multiply_groups(row, first, second, row + grouped, sums);
  }
}

arm_cmsis_nn_status arm_batch_matmul_s16(const cmsis_nn_context *ctx, const cmsis_nn_bmm_params *bmm_params,
                                         const cmsis_nn_per_tensor_quant_params *quant_params,
                                         const cmsis_nn_dims *input_lhs_dims, const int16_t *input_lhs,
                                         const cmsis_nn_dims *input_rhs_dims, const int16_t *input_rhs,
                                         const cmsis_nn_dims *output_dims, int16_t *output) {
  (void)ctx;
  if (!dsp_are_batches(input_lhs_dims, input_rhs_dims, output_dims)) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  const int32_t rows = input_lhs_dims->w, columns = input_rhs_dims->w, inner = input_lhs_dims->c;
  const int32_t multiplier = quant_params->multiplier, shift = quant_params->shift;
  const cmsis_nn_activation range = bmm_params->fc_params.activation;
  for (int32_t n = 0; n < output_dims->n; ++n) {
    for (int32_t h = 0; h < output_dims->h; ++h) {
      const int16_t *row = &input_lhs[dsp_batch_offset(input_lhs_dims, n, h)];
      const int16_t *const others = &input_rhs[dsp_batch_offset(input_rhs_dims, n, h)];
      for (int32_t i = 0; i < rows; ++i) {
        const int16_t *other = others;
        for (int32_t j = 0; j < columns; j += 2) {
          const bool is_pair = j + 1 < columns;
          int64_t sums[2];
          multiply_rows(row, other, is_pair ? other + inner : other, inner, sums);
          const int32_t low = dmo_requantize_wide(sums[0], multiplier, shift);
          output[j] = (int16_t)dmo_clamp(low, range.min, range.max);
          if (is_pair) {
            const int32_t high = dmo_requantize_wide(sums[1], multiplier, shift);
            output[j + 1] = (int16_t)dmo_clamp(high, range.min, range.max);
          }
          other += 2 * inner;
        }
        row += inner;
        output += columns;
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
