// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Kernels whose inputs and outputs lie within larger tensors: a part of the channels, rows and columns of each.
//
// Every kernel computes what the one of its name without `pitched` computes, bit for bit, in the same loop order, on
// one image: n of inputs and outputs is 1. An input or output starts at its first element; what lies between its
// elements is neither loaded nor stored. Scratch: none. Output and inputs do not overlap unless a planner proved it
// safe; see dmo_conv.h.
#ifndef DMO_PITCHED_H
#define DMO_PITCHED_H

#include "dmo_conv.h"
#include "dmo_elementwise.h"
#include "dmo_move.h"
#include "dmo_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

// In elements, from one row to the next and from one pixel to the next: at least as many as a row and a pixel take.
// A tensor for itself has the pitches w * c and c.
typedef struct {
  int32_t row, pixel;
} dmo_pitch;

// Offset in elements, not bytes, from the first element.
static inline int32_t dmo_pitched_offset(const dmo_pitch *pitch, int32_t h, int32_t w, int32_t c) {
  return h * pitch->row + w * pitch->pixel + c;
}

void dmo_conv2d_pitched_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                           const dmo_shape *input_shape, const dmo_pitch *input_pitch, const int8_t *input,
                           const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                           const dmo_shape *output_shape, const dmo_pitch *output_pitch, int8_t *output);
void dmo_conv2d_pitched_f32(const dmo_conv2d_f32_params *params,
                            const dmo_shape *input_shape, const dmo_pitch *input_pitch, const float *input,
                            const dmo_shape *filter_shape, const float *filter, const float *bias,
                            const dmo_shape *output_shape, const dmo_pitch *output_pitch, float *output);
void dmo_depthwise_conv2d_pitched_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                                     const dmo_shape *input_shape, const dmo_pitch *input_pitch, const int8_t *input,
                                     const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                                     const dmo_shape *output_shape, const dmo_pitch *output_pitch, int8_t *output);
void dmo_depthwise_conv2d_pitched_f32(const dmo_conv2d_f32_params *params,
                                      const dmo_shape *input_shape, const dmo_pitch *input_pitch, const float *input,
                                      const dmo_shape *filter_shape, const float *filter, const float *bias,
                                      const dmo_shape *output_shape, const dmo_pitch *output_pitch, float *output);

void dmo_max_pool_pitched_s8(const dmo_pool_params *params,
                             const dmo_shape *input_shape, const dmo_pitch *input_pitch, const int8_t *input,
                             const dmo_shape *output_shape, const dmo_pitch *output_pitch, int8_t *output);
void dmo_max_pool_pitched_f32(const dmo_pool_f32_params *params,
                              const dmo_shape *input_shape, const dmo_pitch *input_pitch, const float *input,
                              const dmo_shape *output_shape, const dmo_pitch *output_pitch, float *output);
void dmo_avg_pool_pitched_s8(const dmo_pool_params *params,
                             const dmo_shape *input_shape, const dmo_pitch *input_pitch, const int8_t *input,
                             const dmo_shape *output_shape, const dmo_pitch *output_pitch, int8_t *output);
void dmo_avg_pool_pitched_f32(const dmo_pool_f32_params *params,
                              const dmo_shape *input_shape, const dmo_pitch *input_pitch, const float *input,
                              const dmo_shape *output_shape, const dmo_pitch *output_pitch, float *output);

// Both inputs have the shape of the output.
void dmo_add_pitched_s8(const dmo_add_params *params, const dmo_shape *shape,
                        const dmo_pitch *input1_pitch, const int8_t *input1,
                        const dmo_pitch *input2_pitch, const int8_t *input2,
                        const dmo_pitch *output_pitch, int8_t *output);
void dmo_add_pitched_f32(float activation_min, float activation_max, const dmo_shape *shape,
                         const dmo_pitch *input1_pitch, const float *input1,
                         const dmo_pitch *input2_pitch, const float *input2,
                         const dmo_pitch *output_pitch, float *output);
void dmo_mul_pitched_s8(const dmo_mul_params *params, const dmo_shape *shape,
                        const dmo_pitch *input1_pitch, const int8_t *input1,
                        const dmo_pitch *input2_pitch, const int8_t *input2,
                        const dmo_pitch *output_pitch, int8_t *output);
void dmo_mul_pitched_f32(float activation_min, float activation_max, const dmo_shape *shape,
                         const dmo_pitch *input1_pitch, const float *input1,
                         const dmo_pitch *input2_pitch, const float *input2,
                         const dmo_pitch *output_pitch, float *output);

void dmo_relu_pitched_s8(const dmo_relu_params *params, const dmo_shape *shape,
                         const dmo_pitch *input_pitch, const int8_t *input,
                         const dmo_pitch *output_pitch, int8_t *output);
void dmo_relu_pitched_f32(const dmo_shape *shape,
                          const dmo_pitch *input_pitch, const float *input,
                          const dmo_pitch *output_pitch, float *output);
void dmo_relu6_pitched_f32(const dmo_shape *shape,
                           const dmo_pitch *input_pitch, const float *input,
                           const dmo_pitch *output_pitch, float *output);

// before->n is 0.
void dmo_pad_pitched(const dmo_padding *before, const void *value, int32_t element_bytes,
                     const dmo_shape *input_shape, const dmo_pitch *input_pitch, const void *input,
                     const dmo_shape *output_shape, const dmo_pitch *output_pitch, void *output);

#ifdef __cplusplus
}
#endif

#endif
