// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Kernels of dmo_pitched.h for the DSP extension: the same results, with the loops of dsp/.
#ifndef DMO_DSP_PITCHED_H
#define DMO_DSP_PITCHED_H

#include "dmo_pitched.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of scratch, which is aligned to 4.
int32_t dmo_dsp_conv2d_pitched_s8_scratch_bytes(const dmo_shape *filter_shape);

// As dmo_conv2d_pitched_s8, for one group: filters have as many channels as the input.
// Order: for four pixels of a row at a time, their patches are copied to the scratch, then for each filter it is loaded
// and the four outputs are stored.
void dmo_dsp_conv2d_pitched_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                               const dmo_shape *input_shape, const dmo_pitch *input_pitch, const int8_t *input,
                               const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                               const dmo_shape *output_shape, const dmo_pitch *output_pitch, int8_t *output,
                               void *scratch);

// As dmo_depthwise_conv2d_pitched_s8. Order: oy, ox, four channels at a time | fy, fx; of a single input channel, as for
// arm_depthwise_conv_s8, oy, four pixels at a time. Scratch: none.
void dmo_dsp_depthwise_conv2d_pitched_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                         const dmo_shape *input_shape, const dmo_pitch *input_pitch,
                                         const int8_t *input,
                                         const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                         const dmo_shape *output_shape, const dmo_pitch *output_pitch,
                                         int8_t *output);

#ifdef __cplusplus
}
#endif

#endif
