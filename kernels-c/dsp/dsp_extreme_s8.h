// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Minimum and maximum of two inputs, of which either may be repeated along any axis.
#ifndef DSP_EXTREME_S8_H
#define DSP_EXTREME_S8_H

#include "arm_nnfunctions.h"
#include "dsp.h"

DSP_INLINE uint32_t dsp_extreme4(bool is_maximum, uint32_t a, uint32_t b) {
  return is_maximum ? dsp_max4(a, b) : dsp_min4(a, b);
}

// A run of elements: inputs that advance with the output, or else a single element of theirs is repeated.
DSP_INLINE void dsp_extreme_run_s8(bool is_maximum, const int8_t *input1, bool advances1, const int8_t *input2,
                                   bool advances2, int8_t *output, int32_t count) {
  uint32_t four1 = UINT32_C(0x01010101) * (uint8_t)*input1;
  uint32_t four2 = UINT32_C(0x01010101) * (uint8_t)*input2;
  for (; count >= 4; count -= 4) {
    if (advances1) {
      four1 = dsp_load4(input1);
      input1 += 4;
    }
    if (advances2) {
      four2 = dsp_load4(input2);
      input2 += 4;
    }
    dsp_store4(output, dsp_extreme4(is_maximum, four1, four2));
    output += 4;
  }
  if (count != 0) {
    four1 = advances1 ? dsp_load_some(input1, count) : four1;
    four2 = advances2 ? dsp_load_some(input2, count) : four2;
    dsp_store_some(output, dsp_extreme4(is_maximum, four1, four2), count);
  }
}

// Neighbouring axes along which an input advances, or is repeated as a whole, and the other too, are one.
typedef struct {
  int32_t extent[4], step1[4], step2[4]; // outermost first; steps of repeated axes are 0
} dsp_extreme_axes;

// Returns false if the shapes do not go together.
DSP_INLINE bool dsp_join_axes(const cmsis_nn_dims *dims1, const cmsis_nn_dims *dims2, const cmsis_nn_dims *output,
                              dsp_extreme_axes *axes) {
  const int32_t out[4] = { output->n, output->h, output->w, output->c };
  const int32_t in1[4] = { dims1->n, dims1->h, dims1->w, dims1->c };
  const int32_t in2[4] = { dims2->n, dims2->h, dims2->w, dims2->c };
  int32_t step1 = 1, step2 = 1;
  int32_t at = 4; // the outermost axis so far
  for (int32_t i = 3; i >= 0; --i) {
    if ((in1[i] != out[i] && in1[i] != 1) || (in2[i] != out[i] && in2[i] != 1)) {
      return false;
    }
    const int32_t own1 = in1[i] == 1 ? 0 : step1, own2 = in2[i] == 1 ? 0 : step2;
    step1 *= in1[i];
    step2 *= in2[i];
    if (out[i] == 1) {
      continue;
    }
    if (at < 4 && own1 == axes->step1[at] * axes->extent[at] && own2 == axes->step2[at] * axes->extent[at]) {
      axes->extent[at] *= out[i];
      continue;
    }
    --at;
    axes->extent[at] = out[i];
    axes->step1[at] = own1;
    axes->step2[at] = own2;
  }
  for (int32_t i = 0; i < at; ++i) {
    axes->extent[i] = 1;
    axes->step1[i] = axes->step2[i] = 0;
  }
  return true;
}

DSP_INLINE void dsp_extreme_s8(bool is_maximum, const dsp_extreme_axes *axes, const int8_t *input1,
                               const int8_t *input2, int8_t *output) {
  const int32_t count = axes->extent[3];
  const bool advances1 = axes->step1[3] != 0, advances2 = axes->step2[3] != 0;
  for (int32_t i0 = 0; i0 < axes->extent[0]; ++i0) {
    for (int32_t i1 = 0; i1 < axes->extent[1]; ++i1) {
      for (int32_t i2 = 0; i2 < axes->extent[2]; ++i2) {
        const int8_t *const from1 = &input1[i0 * axes->step1[0] + i1 * axes->step1[1] + i2 * axes->step1[2]];
        const int8_t *const from2 = &input2[i0 * axes->step2[0] + i1 * axes->step2[1] + i2 * axes->step2[2]];
        dsp_extreme_run_s8(is_maximum, from1, advances1, from2, advances2, output, count);
        output += count;
      }
    }
  }
}

#endif
