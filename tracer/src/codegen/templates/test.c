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

static @prefix@arena arenas[CONTEXTS];
@rounding@@rows@
static int failed(const char *what) {
  PRINT("@model@: ");
  PRINT(what);
  PRINT(" FAILED\n");
  return 1;
}

static int is_refused(void) {
  @prefix@context context;
  unsigned char *const bytes = arenas[0].bytes;
  return @prefix@init(NULL, bytes, sizeof arenas[0]) == @PREFIX@NULL_POINTER &&
         @prefix@init(&context, NULL, sizeof arenas[0]) == @PREFIX@NULL_POINTER &&
         @prefix@invoke(&context@no_rows@) == @PREFIX@NULL_POINTER &&
         @prefix@init(&context, bytes + 1, sizeof arenas[0]) == @PREFIX@ARENA_MISALIGNED &&
         @prefix@init(&context, bytes, sizeof arenas[0] - 1) == @PREFIX@ARENA_TOO_SMALL;
}

int main(void) {
  @prefix@context contexts[CONTEXTS];
  if (!is_refused()) {
    return failed("refusal of bad arguments");
  }
  for (int i = 0; i < CONTEXTS; ++i) {
    memset(&arenas[i], 0xa5 + i, sizeof arenas[i]);
    if (@prefix@init(&contexts[i], &arenas[i], sizeof arenas[i]) != @PREFIX@OK) {
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
