// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Shapes as data, and tensors of zeros. Buffers are aligned to their element.
#ifndef DMO_EXTENTS_H
#define DMO_EXTENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The extents of a shape that is known before anything runs. Stores each in ascending order, and loads no activation.
// Scratch: none.
void dmo_shape_of(int32_t axes, const int32_t *extents, int32_t *output);

// Stores bytes of 0, an element of element_bytes (1, 2, 4 or 8) after the other, and loads nothing. Scratch: none.
void dmo_zeros(int32_t element_bytes, int32_t count, void *output);

// Extents of two shapes and of what both are broadcast to; each has at least one, and the output as many as the longer
// input or more.
typedef struct {
  int32_t input1, input2, output;
} dmo_broadcast_args_size;

// For each extent of the output, of the last axis first: the other input's where one has an extent of 1 or no axis there,
// else input 1's, which is then that of input 2. Extents of 64 bits are cut to 32, as in TensorFlow Lite Micro.
// Loop order: from the last extent to the first; loads that of input 1 and of input 2, if they have one, then stores.
// What an input is loaded for comes after what lies at its end has been stored: nothing of either may overlap. Scratch:
// none.
void dmo_broadcast_args_s32(const dmo_broadcast_args_size *size, const int32_t *input1, const int32_t *input2,
                            int32_t *output);
void dmo_broadcast_args_s64(const dmo_broadcast_args_size *size, const int64_t *input1, const int64_t *input2,
                            int64_t *output);

#ifdef __cplusplus
}
#endif

#endif
