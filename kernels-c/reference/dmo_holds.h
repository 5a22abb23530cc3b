// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Relations of two numbers of any type.
#ifndef DMO_HOLDS_H
#define DMO_HOLDS_H

#include "dmo_choice.h"

#define DMO_HOLDS(relation, a, b)                     \
  ((relation) == DMO_EQUAL           ? (a) == (b)     \
   : (relation) == DMO_NOT_EQUAL     ? (a) != (b)     \
   : (relation) == DMO_GREATER       ? (a) > (b)      \
   : (relation) == DMO_GREATER_EQUAL ? (a) >= (b)     \
   : (relation) == DMO_LESS          ? (a) < (b)      \
                                     : (a) <= (b))

#endif
