// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What makes an image of kernels that are called by name: a vector table, and a reset that does nothing.
#include <stdint.h>

extern uint32_t stack_top[]; // from link.ld

void Reset_Handler(void);

typedef union {
  uint32_t *initial_stack;
  void (*handler)(void);
} vector;

// Reset, and the faults that a core has a vector for.
__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
  { .initial_stack = stack_top },  { .handler = Reset_Handler }, { .handler = Reset_Handler },
  { .handler = Reset_Handler },    { .handler = Reset_Handler }, { .handler = Reset_Handler },
  { .handler = Reset_Handler },
};

void Reset_Handler(void) {
  for (;;) {
    __asm__ volatile("");
  }
}
