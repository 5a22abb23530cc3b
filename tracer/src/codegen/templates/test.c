// SPDX-License-Identifier: MIT OR Apache-2.0
@banner@
//
// Runs the model on recorded inputs and compares its outputs, byte for byte, with those that were recorded when each
// tensor had memory of its own. Two contexts run side by side; their arenas are filled with garbage first.
#include "@prefix@model.h"
#include "@prefix@vectors.h"

#include <string.h>

#ifdef SEMIHOSTING
#include "board/semihost.h"
#define PRINT(text) semihost_print(text)
#else
#include <stdio.h>
#define PRINT(text) (void)fputs(text, stdout)
#endif

#ifndef CONTEXTS
#define CONTEXTS 2
#endif

@define_memories@@rounding@@rows@
static int failed(const char *what) {
  PRINT("@model@: ");
  PRINT(what);
  PRINT(" FAILED\n");
  return 1;
}

static int is_refused(void) {
  @prefix@context context;
  return @prefix@init(NULL, @right_memories@) == @PREFIX@NULL_POINTER@refusals@ &&
         @prefix@invoke(&context@no_rows@) == @PREFIX@NULL_POINTER;
}

int main(void) {
  @prefix@context contexts[CONTEXTS];
  if (!is_refused()) {
    return failed("refusal of bad arguments");
  }
  for (int i = 0; i < CONTEXTS; ++i) {
@garbage@    if (@prefix@init(&contexts[i], @given_memories@) != @PREFIX@OK) {
      return failed("initialisation");
    }
  }
  for (int vector = 0; vector < @PREFIX@VECTORS; ++vector) {
    for (int i = 0; i < CONTEXTS; ++i) {
@copy@    }
    for (int i = 0; i < CONTEXTS; ++i) {
      if (@prefix@invoke(&contexts[i]@recorded_rows@) != @PREFIX@OK) {
        return failed("inference");
      }
@compare@    }
  }
@rounded@  PRINT("@model@: " @PREFIX@VECTORS_TEXT " recorded inferences, all outputs equal\n");
  return 0;
}
