// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Layer marks: they tell dmo-trace where a layer begins and ends, and which buffers it works on.
//
//   static const dmo_buffer buffers[] = {
//     DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
//     DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
//   };
//   dmo_layer_begin("conv2d_0", "conv2d", buffers, 2);
//   dmo_conv2d_s8(...);
//   dmo_layer_end();
//
// On real hardware a pair of marks costs two calls that return at once, and nothing else. Layers do not nest. Names and
// descriptors only have to stay valid until dmo_layer_begin returns.
#ifndef DMO_TRACE_H
#define DMO_TRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the layer does with a buffer.
enum { DMO_INPUT = 0, DMO_OUTPUT = 1, DMO_SCRATCH = 2, DMO_CONSTANT = 3, DMO_STATE = 4 };

// Type of a buffer's elements.
enum { DMO_INT8 = 0, DMO_UINT8 = 1, DMO_INT16 = 2, DMO_INT32 = 3, DMO_INT64 = 4, DMO_FLOAT32 = 5, DMO_BOOL = 6 };

// 16 bytes on a 32-bit target; the tracer reads it from the target's memory.
typedef struct {
  const char *name;
  const void *address;
  uint32_t size_bytes;
  uint8_t role;
  uint8_t type;
  uint16_t reserved; // 0
} dmo_buffer;

#define DMO_BUFFER(name, role, type, pointer, bytes) \
  { (name), (pointer), (uint32_t)(bytes), (uint8_t)(role), (uint8_t)(type), 0 }

// The marks proper, in dmo_trace.c. Call the two functions below instead: they keep the compiler from moving a layer's
// loads and stores across a mark.
void dmo_mark_begin(const char *name, const char *op, const dmo_buffer *buffers, uint32_t buffer_count);
void dmo_mark_end(void);

static inline void dmo_layer_begin(const char *name, const char *op, const dmo_buffer *buffers,
                                   uint32_t buffer_count) {
  __asm__ volatile("" ::: "memory");
  dmo_mark_begin(name, op, buffers, buffer_count);
  __asm__ volatile("" ::: "memory");
}

static inline void dmo_layer_end(void) {
  __asm__ volatile("" ::: "memory");
  dmo_mark_end();
  __asm__ volatile("" ::: "memory");
}

#ifdef __cplusplus
}
#endif

#endif
