// SPDX-License-Identifier: MIT OR Apache-2.0
@banner@
#include "@prefix@weights.h"
@includes@
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the kernels load and store words of a little-endian CPU"
#endif

@core@@at@
@variables@
// Gives the states what they hold before the first inference.
static void reset_states(unsigned char *@state_memory@) {
@reset@}

@prefix@status @prefix@init(@prefix@context *context, @init_parameters@) {
  if (context == NULL) {
    return @PREFIX@NULL_POINTER;
  }
@clear@  if (@is_null@) {
    return @PREFIX@NULL_POINTER;
  }
  if (@is_misaligned@) {
    return @PREFIX@ARENA_MISALIGNED;
  }
  if (@is_small@) {
    return @PREFIX@ARENA_TOO_SMALL;
  }
@take@  reset_states(context->@state_memory@);
  return @PREFIX@OK;
}

@prefix@status @prefix@reset(@prefix@context *context) {
  if (context == NULL || context->@first@ == NULL) {
    return @PREFIX@NULL_POINTER;
  }
  reset_states(context->@state_memory@);
  return @PREFIX@OK;
}

@prefix@status @prefix@invoke(@prefix@context *context@rows_parameters@) {
  if (context == NULL || context->@first@ == NULL@no_rows@) {
    return @PREFIX@NULL_POINTER;
  }
@locals@@calls@  return @PREFIX@OK;
}
@accessors@@saved_states@
