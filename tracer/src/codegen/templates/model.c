// SPDX-License-Identifier: MIT OR Apache-2.0
@banner@
#include "@prefix@weights.h"
@includes@
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the kernels load and store words of a little-endian CPU"
#endif

@core@// A pointer into the arena.
#define AT(type, offset) ((type *)(void *)(arena + (offset)))

@variables@
// Gives the states what they hold before the first inference.
static void reset_states(unsigned char *arena) {
@reset@}

@prefix@status @prefix@init(@prefix@context *context, void *arena, size_t arena_bytes) {
  if (context == NULL) {
    return @PREFIX@NULL_POINTER;
  }
  context->arena = NULL;
  if (arena == NULL) {
    return @PREFIX@NULL_POINTER;
  }
  if ((uintptr_t)arena % @PREFIX@ARENA_ALIGNMENT != 0) {
    return @PREFIX@ARENA_MISALIGNED;
  }
  if (arena_bytes < @PREFIX@ARENA_BYTES) {
    return @PREFIX@ARENA_TOO_SMALL;
  }
  context->arena = (unsigned char *)arena;
  reset_states(context->arena);
  return @PREFIX@OK;
}

@prefix@status @prefix@reset(@prefix@context *context) {
  if (context == NULL || context->arena == NULL) {
    return @PREFIX@NULL_POINTER;
  }
  reset_states(context->arena);
  return @PREFIX@OK;
}

@prefix@status @prefix@invoke(@prefix@context *context@rows_parameters@) {
  if (context == NULL || context->arena == NULL@no_rows@) {
    return @PREFIX@NULL_POINTER;
  }
  unsigned char *const arena = context->arena;
@calls@  return @PREFIX@OK;
}
@accessors@@saved_states@
