// SPDX-License-Identifier: MIT OR Apache-2.0
@spdx@
//
// @line@
//
// The functions of this library, for code that is compiled without CMSIS-NN's headers. Arduino takes the library for a
// sketch that includes this file.
#ifndef DMO_NN_H
#define DMO_NN_H

#include "kernels/arm_nnfunctions.h"

#define DMO_NN_VERSION "@version@"

#endif
