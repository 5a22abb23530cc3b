// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Pooling. Output and input do not overlap unless a planner proved it safe; see dmo_conv.h.
#ifndef DMO_POOL_H
#define DMO_POOL_H

#include "dmo_quantize.h"
#include "dmo_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Tap (fy, fx) of output (oy, ox) reads the input at (oy * stride_h - pad_h + fy, ox * stride_w - pad_w + fx). A tap
// outside the input is neither loaded nor counted. Every window holds at least one element of the input.
typedef struct {
  int32_t filter_h, filter_w;
  int32_t stride_h, stride_w;
  int32_t pad_h, pad_w;
} dmo_pool_geometry;

// Input and output share one scale and zero point. The activation range lies in [-128, 127].
typedef struct {
  dmo_pool_geometry geometry;
  int32_t activation_min, activation_max;
} dmo_pool_params;

typedef struct {
  dmo_pool_geometry geometry;
  float activation_min, activation_max;
} dmo_pool_f32_params;

// Maximum, or average, of each window, clamped; or the root of the average of the squares. The 8-bit average is rounded to
// nearest, halves away from zero.
// input [N, H, W, C], output [N, H, W, C], with equal N and C.
// Loop order: b, oy, ox, c | fy, fx; each output element is stored once, after its loads. Scratch: none.
void dmo_max_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                     const dmo_shape *output_shape, int8_t *output);
void dmo_max_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                      const dmo_shape *output_shape, float *output);
void dmo_avg_pool_s8(const dmo_pool_params *params, const dmo_shape *input_shape, const int8_t *input,
                     const dmo_shape *output_shape, int8_t *output);
void dmo_avg_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                      const dmo_shape *output_shape, float *output);
void dmo_l2_pool_f32(const dmo_pool_f32_params *params, const dmo_shape *input_shape, const float *input,
                     const dmo_shape *output_shape, float *output);

#ifdef __cplusplus
}
#endif

#endif
