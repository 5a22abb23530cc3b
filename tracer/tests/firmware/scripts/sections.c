// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A program with something in every section that vendors' linker scripts know: initialised data of
// more than a page, cleared data, code that is copied into RAM, descriptors that are registered by
// their section and are not constant, and a constructor. It begins and ends without a library.
#include "dmo_trace.h"
#include "semihost.h"

#include <stdint.h>

// From the linker script; what is copied and cleared.
extern const uint32_t data_load[], code_load[];
extern uint32_t data_start[], data_end[], code_start[], code_end[];
extern uint32_t bss_start[], bss_end[], stack_top[];
typedef void (*init_function)(void);
extern const init_function init_array_start[], init_array_end[];

void Reset_Handler(void);

typedef union {
  uint32_t *initial_stack;
  void (*handler)(void);
} vector;

// Some vendors' tables are constant, some are not.
#ifdef WRITABLE_VECTORS
#define VECTORS
#else
#define VECTORS const
#endif
__attribute__((section(".isr_vector"), used)) VECTORS vector vectors[16] = {
  { .initial_stack = stack_top },
  { .handler = Reset_Handler },
};

typedef struct {
  int32_t (*function)(int32_t);
} descriptor;

enum { ELEMENTS = 64 };

static volatile int32_t table[2000] = { 3, [1999] = 4 };
static int8_t input[ELEMENTS], output[ELEMENTS];
static int32_t constructed;

__attribute__((constructor)) static void construct(void) { constructed = 5; }

static int32_t negate(int32_t value) { return -value; }
__attribute__((section(".registered"), used)) descriptor registered = { negate };

__attribute__((section(".fast_code"), noinline, long_call)) void fast(void) {
  for (int32_t i = 0; i < ELEMENTS; ++i) {
    output[i] = (int8_t)-input[i];
  }
}

static int compute(void) {
  if (table[0] != 3 || table[1999] != 4 || constructed != 5 || registered.function(7) != -7) {
    return 1;
  }
  for (int32_t i = 0; i < ELEMENTS; ++i) {
    input[i] = (int8_t)i;
  }
  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("negate", "neg", buffers, 2);
  fast();
  dmo_layer_end();
  return output[ELEMENTS - 1] == 1 - ELEMENTS ? 0 : 2;
}

static void copy(uint32_t *to, const uint32_t *end, const uint32_t *from) {
  for (volatile uint32_t *word = to; word < end; ++word) {
    *word = *from++;
  }
}

void Reset_Handler(void) {
  // Where they are the same, the program was loaded into RAM.
  if (data_load != data_start) {
    copy(data_start, data_end, data_load);
    copy(code_start, code_end, code_load);
  }
  for (volatile uint32_t *word = bss_start; word < bss_end; ++word) {
    *word = 0;
  }
  for (const init_function *init = init_array_start; init < init_array_end; ++init) {
    (*init)();
  }
  semihost_exit(compute());
}
