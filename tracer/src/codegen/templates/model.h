// SPDX-License-Identifier: MIT OR Apache-2.0
@banner@
#ifndef @PREFIX@H
#define @PREFIX@H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__) || defined(__ICCARM__)
#define @PREFIX@ALIGNED __attribute__((aligned(16)))
#else
#define @PREFIX@ALIGNED
#endif
@sizes@
// What persists from one inference to the next, part @part_of@.
#define @PREFIX@STATE_BYTES @state_bytes@u
@stream@
// @stack@
@stack_macro@
@types@
typedef enum {
  @PREFIX@OK = 0,
  @PREFIX@NULL_POINTER = -1,     // a pointer is NULL, or the context was not initialised
  @PREFIX@ARENA_MISALIGNED = -2, // @misaligned@
  @PREFIX@ARENA_TOO_SMALL = -3,  // @small@
  @PREFIX@KERNEL_FAILED = -4,    // a kernel refused its arguments: the library was changed
@read_failed@} @prefix@status;

// One instance of the model. Several may exist, each with @of_its_own@; there are no global variables.
typedef struct {
@members@} @prefix@context;

// Makes a context of @made_of@, and resets its states. Any content of @content@ will do.
@prefix@status @prefix@init(@prefix@context *context, @init_parameters@);

// Gives the states what they hold before the first inference. A model without states has nothing to reset.
@prefix@status @prefix@reset(@prefix@context *context);
@rows@
// Computes the outputs, which are valid until an input is stored or the next call of init, reset or invoke: they may lie
// where an input lies. @inputs_after@
@prefix@status @prefix@invoke(@prefix@context *context@rows_parameters@);
@saved_states@@endpoints@
#ifdef __cplusplus
}
#endif

#endif
