// SPDX-License-Identifier: MIT OR Apache-2.0
@banner@
#ifndef @PREFIX@WEIGHTS_H
#define @PREFIX@WEIGHTS_H

#include "@prefix@model.h"

#include <stdbool.h>

// Define it to place the weights, for example as __attribute__((section(".qspi"))).
#ifndef @PREFIX@WEIGHTS
#define @PREFIX@WEIGHTS
#endif

@declarations@
#endif
