// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_multiply_s16.h"

enum { MOST_GROUPS = DSP_WIDE_PRODUCTS / 4, GROUP_WORDS = 4 };

// Adds to the sums of the filters f and the pixels p, at 2 * f + p, the groups between two addresses, at least one and at
// most MOST_GROUPS; the second filter lies `apart` bytes behind the first.
#if DSP_INSTRUCTIONS

//   r0 patches   r1 filter   r2 apart   r3 end   r4 to r7 sums   r8, r10 even columns, r9, r11 odd ones of the pixels
//   r12, lr weights
DSP_NAKED static void multiply_groups(DSP_UNUSED const uint32_t *patches, DSP_UNUSED const int8_t *filter,
                                      DSP_UNUSED int32_t apart, DSP_UNUSED const uint32_t *end,
                                      DSP_UNUSED int32_t *sums) {
  __asm__ volatile("push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n\t"
                   "ldr r12, [sp, #36]\n\t"
                   "ldm r12, {r4, r5, r6, r7}\n\t"
                   ".balign 4\n"
                   "1:\n\t"
                   "ldr.w r9, [r0, #4]\n\t"
                   "ldr.w r10, [r0, #8]\n\t"
                   "ldr.w r11, [r0, #12]\n\t"
                   "ldr.w r8, [r0], #16\n\t"
                   "ldr.w r12, [r1, r2]\n\t"
                   "sxtb16 lr, r12\n\t"
                   "sxtb16 r12, r12, ror #8\n\t"
                   "smlad r6, lr, r8, r6\n\t"
                   "smlad r7, lr, r10, r7\n\t"
                   "smlad r6, r12, r9, r6\n\t"
                   "smlad r7, r12, r11, r7\n\t"
                   "ldr.w r12, [r1], #4\n\t"
                   "cmp.w r0, r3\n\t"
                   "sxtb16 lr, r12\n\t"
                   "sxtb16 r12, r12, ror #8\n\t"
                   "smlad r4, lr, r8, r4\n\t"
                   "smlad r5, lr, r10, r5\n\t"
                   "smlad r4, r12, r9, r4\n\t"
                   "smlad r5, r12, r11, r5\n\t"
                   "bne.w 1b\n\t"
                   "ldr r12, [sp, #36]\n\t"
                   "stm r12, {r4, r5, r6, r7}\n\t"
                   "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}");
}

#else

static void multiply_groups(const uint32_t *patches, const int8_t *filter, int32_t apart, const uint32_t *end,
                            int32_t *sums) {
  for (; patches != end; patches += GROUP_WORDS) {
    for (int32_t f = 0; f < 2; ++f) {
      const uint32_t four = dsp_load4(filter + f * apart);
      for (int32_t p = 0; p < 2; ++p) {
        int32_t *const sum = &sums[2 * f + p];
        *sum = dsp_multiply_pairs(dsp_even(four), patches[2 * p], *sum);
        *sum = dsp_multiply_pairs(dsp_odd(four), patches[2 * p + 1], *sum);
      }
    }
    filter += 4;
  }
}

#endif

// At most DSP_WIDE_PRODUCTS columns, added to the sums. Those behind the groups come first.
DSP_INLINE void multiply_columns(const uint32_t *patches, const int8_t *filter, int32_t apart, int32_t columns,
                                 int32_t *sums) {
  const int32_t grouped = columns & ~3;
  if (grouped != columns) {
    int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
    const int8_t *weight = filter + columns;
    const uint32_t *values = patches + columns;
    do {
      const uint32_t two = *--values;
      const uint32_t weight0 = (uint32_t)*--weight, weight1 = (uint32_t)weight[apart];
      sum0 = dsp_multiply_low(two, weight0, sum0);
      sum1 = dsp_multiply_high_low(two, weight0, sum1);
      sum2 = dsp_multiply_low(two, weight1, sum2);
      sum3 = dsp_multiply_high_low(two, weight1, sum3);
    } while (values != patches + grouped);
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
  }
  if (grouped != 0) {
    multiply_groups(patches, filter, apart, patches + grouped, sums);
  }
}

// Any number of columns.
DSP_OUT_OF_LINE static void multiply_all_columns(const uint32_t *patches, const int8_t *filter, int32_t apart,
                                                 int32_t columns, int64_t *sums) {
  for (int32_t i = 0; i < 4; ++i) {
    sums[i] = 0;
  }
  while (columns > 0) {
    const int32_t most = MOST_GROUPS * 4;
    const int32_t block = columns < most ? columns : most;
    int32_t sum[4] = { 0, 0, 0, 0 };
    multiply_columns(patches, filter, apart, block, sum);
    for (int32_t i = 0; i < 4; ++i) {
      sums[i] += sum[i];
    }
    patches += block;
    filter += block;
    columns -= block;
  }
}

// One or two channels from c of one pixel, of which the sums are sums[0] and sums[2], by the reference's functions.
static void store_exactly(const dsp_filters_s16 *filters, int32_t c, int32_t count, const int64_t *sums,
                          int16_t *output) {
  for (int32_t i = 0; i < count; ++i) {
    const dsp_scales scales = dsp_scales_from(filters->scales, c + i);
    int32_t value;
    if (filters->is_int32) {
      const int64_t sum = sums[2 * i] + (filters->bias32 == NULL ? 0 : filters->bias32[c + i]);
      value = dmo_requantize((int32_t)(uint32_t)(uint64_t)sum, *scales.multiplier, *scales.shift);
    } else {
      value = dsp_requantize_wide_exactly(sums[2 * i] + *scales.bias, *scales.multiplier, *scales.shift);
    }
    output[c + i] = (int16_t)dmo_clamp(value, scales.min, scales.max);
  }
}

DSP_OUT_OF_LINE static void multiply_pixels_exactly(const dsp_filters_s16 *filters, const uint32_t *patches,
                                                    int32_t pixels, int16_t *output, int32_t apart) {
  const int8_t *filter = filters->filter;
  for (int32_t c = 0; c < filters->channels; c += 2) {
    const int32_t count = c + 1 == filters->channels ? 1 : 2;
    int64_t sums[4];
    multiply_all_columns(patches, filter, count == 1 ? 0 : filters->columns, filters->columns, sums);
    for (int32_t p = 0; p < pixels; ++p) {
      store_exactly(filters, c, count, &sums[p], &output[p * apart]);
    }
    filter += 2 * filters->columns;
  }
}

void dsp_multiply_pixels_s16(const dsp_filters_s16 *filters, const uint32_t *patches, int32_t pixels, int16_t *output,
                             int32_t apart) {
  if (!filters->is_fast) {
    multiply_pixels_exactly(filters, patches, pixels, output, apart);
    return;
  }
  // Copies, which a store to the output cannot change.
  const int32_t columns = filters->columns;
  dsp_scales scales = filters->scales;
  const int8_t *filter = filters->filter;
  int16_t *second = &output[pixels == 1 ? 0 : apart];
  for (int32_t channels = filters->channels; channels > 0; channels -= 2) {
    const bool is_single = channels == 1;
    int32_t sums[4];
    sums[0] = sums[1] = (int32_t)*scales.bias;
    const dsp_wide_channel low = dsp_make_wide(&scales);
    scales = is_single ? scales : dsp_scales_from(scales, 1);
    sums[2] = sums[3] = (int32_t)*scales.bias;
    const dsp_wide_channel high = dsp_make_wide(&scales);
    scales = dsp_scales_from(scales, 1);
    multiply_columns(patches, filter, is_single ? 0 : columns, columns, sums);
    const int32_t low0 = dmo_clamp(dsp_requantize_fast(low, sums[0]), scales.min, scales.max);
    const int32_t low1 = dmo_clamp(dsp_requantize_fast(low, sums[1]), scales.min, scales.max);
    if (is_single) {
      *output = (int16_t)low0;
      *second = (int16_t)low1;
      return;
    }
    const int32_t high0 = dmo_clamp(dsp_requantize_fast(high, sums[2]), scales.min, scales.max);
    const int32_t high1 = dmo_clamp(dsp_requantize_fast(high, sums[3]), scales.min, scales.max);
    dsp_store_pair(output, dsp_pair(low0, high0));
    dsp_store_pair(second, dsp_pair(low1, high1));
    filter += 2 * columns;
    output += 2;
    second += 2;
  }
}
