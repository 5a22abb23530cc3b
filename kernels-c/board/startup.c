// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Vector table and reset code for the Arm MPS2 boards (Cortex-M3, M4, M7).
#include "semihost.h"

#include <stdint.h>

// From link.ld.
extern uint32_t stack_top[];
extern const uint32_t data_load[];
extern uint32_t data_start[], data_end[], bss_start[], bss_end[];
typedef void (*init_function)(void);
extern const init_function init_array_start[], init_array_end[];

int main(void);
void Reset_Handler(void);
void Default_Handler(void);

#define WEAK_HANDLER __attribute__((weak, alias("Default_Handler")))
void NMI_Handler(void) WEAK_HANDLER;
void HardFault_Handler(void) WEAK_HANDLER;
void MemManage_Handler(void) WEAK_HANDLER;
void BusFault_Handler(void) WEAK_HANDLER;
void UsageFault_Handler(void) WEAK_HANDLER;
void SVC_Handler(void) WEAK_HANDLER;
void DebugMon_Handler(void) WEAK_HANDLER;
void PendSV_Handler(void) WEAK_HANDLER;
void SysTick_Handler(void) WEAK_HANDLER;

typedef union {
  uint32_t *initial_stack;
  void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
  { .initial_stack = stack_top },
  { .handler = Reset_Handler },
  { .handler = NMI_Handler },
  { .handler = HardFault_Handler },
  { .handler = MemManage_Handler },
  { .handler = BusFault_Handler },
  { .handler = UsageFault_Handler },
  [11] = { .handler = SVC_Handler },
  [12] = { .handler = DebugMon_Handler },
  [14] = { .handler = PendSV_Handler },
  [15] = { .handler = SysTick_Handler },
};

#define SCB_VTOR (*(volatile uint32_t *)0xE000ED08u)
#define SCB_CPACR (*(volatile uint32_t *)0xE000ED88u)

static void enable_fpu(void) {
#ifdef __ARM_FP
  SCB_CPACR |= 0xFu << 20; // full access to coprocessors 10 and 11
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
}

void Reset_Handler(void) {
  SCB_VTOR = (uint32_t)(uintptr_t)vectors;
  enable_fpu();
  const uint32_t *load = data_load;
  for (uint32_t *word = data_start; word < data_end; ++word) {
    *word = *load++;
  }
  for (uint32_t *word = bss_start; word < bss_end; ++word) {
    *word = 0;
  }
  for (const init_function *init = init_array_start; init < init_array_end; ++init) {
    (*init)();
  }
  semihost_exit(main());
}

// Every unexpected exception ends here; a debugger finds the program in this loop.
__attribute__((weak)) void Default_Handler(void) {
  for (;;) {
  }
}
