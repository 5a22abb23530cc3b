// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_depthwise_in_place.h"

int32_t dmo_depthwise_conv2d_in_place_s8_scratch_bytes(const dmo_shape *input_shape) {
  return input_shape->h * input_shape->w;
}
