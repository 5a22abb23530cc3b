// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Weights of 4 bits as bytes: the kernels that have them compute what the oracles in oracle.h say of these.
#ifndef ORACLE_INT4_H
#define ORACLE_INT4_H

#include "oracle.h"
#include "dmo_int4.h"

// Two weights of each byte; `weights` has `count` elements.
void oracle_unpack_s4(const uint8_t *packed, int32_t count, int8_t *weights);

#endif
