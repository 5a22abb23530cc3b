// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_map.h"
#include "dmo_unary.h"

#include <math.h>

void dmo_exp_f32(int32_t count, const float *input, float *output) {
  DMO_MAP(float, expf(x));
}
