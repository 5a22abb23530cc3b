// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_extents.h"

void dmo_shape_of(int32_t axes, const int32_t *extents, int32_t *output) {
  for (int32_t axis = 0; axis < axes; ++axis) {
    output[axis] = extents[axis];
  }
}
