// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_trace.h"

#ifdef __thumb__

// The tracer finds a mark by its 20 bytes, in stripped images too: bx lr, nop, and 16 characters behind them that are
// never executed. noipa keeps GCC's link-time optimiser from using the fact that the arguments are not read.
#ifdef __has_attribute
#if __has_attribute(noipa)
#define MARK __attribute__((naked, noinline, used, aligned(4), noipa))
#endif
#endif
#ifndef MARK
#define MARK __attribute__((naked, noinline, used, aligned(4)))
#endif

#define UNUSED __attribute__((unused))

MARK void dmo_mark_begin(UNUSED const char *name, UNUSED const char *op, UNUSED const dmo_buffer *buffers,
                         UNUSED uint32_t buffer_count) {
  __asm__ volatile(".inst.n 0x4770\n\t.inst.n 0xbf00\n\t.ascii \"DMO-TRACE-BEGIN1\"");
}

MARK void dmo_mark_end(void) {
  __asm__ volatile(".inst.n 0x4770\n\t.inst.n 0xbf00\n\t.ascii \"DMO-TRACE-END..1\"");
}

#else

// Not a Cortex-M: nothing to find.
void dmo_mark_begin(const char *name, const char *op, const dmo_buffer *buffers, uint32_t buffer_count) {
  (void)name;
  (void)op;
  (void)buffers;
  (void)buffer_count;
}

void dmo_mark_end(void) {}

#endif
