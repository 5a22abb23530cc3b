// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_map.h"
#include "dmo_unary.h"

#include <math.h>

static bool is_even(float whole) {
  return floorf(whole * 0.5f) == whole * 0.5f;
}

static float rounded(float x) {
  const float below = floorf(x);
  const float rest = x - below;
  return rest < 0.5f || (rest == 0.5f && is_even(below)) ? below : below + 1.0f;
}

void dmo_round_f32(int32_t count, const float *input, float *output) {
  DMO_MAP(float, rounded(x));
}
