// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_broadcast_loop.h"
#include "dmo_choice.h"
#include "dmo_holds.h"

void dmo_compare_bool(dmo_relation relation, const dmo_shape *input1_shape, const bool *input1,
                     const dmo_shape *input2_shape, const bool *input2,
                     const dmo_shape *output_shape, bool *output) {
  DMO_BROADCAST(bool, bool, DMO_HOLDS(relation, a, b));
}
