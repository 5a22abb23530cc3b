// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Four pixels by packed filters: the inside of the convolution of dmo_packed.h.
#ifndef PACKED_MULTIPLY_H
#define PACKED_MULTIPLY_H

#include "dsp_multiply.h"

// What all pixels of a layer share.
typedef struct {
  dsp_range range;
  const uint32_t *rows;   // four patches, widened as dsp_multiply.h says
  int32_t groups;
  const uint32_t *packed;
  int32_t channels;       // even
} packed_layer;

// Stores the outputs of four pixels, each `step1`, `step2`, `step3` bytes after the one before. Pixels may be equal, if
// their patches are equal too.
void packed_multiply(const packed_layer *layer, int8_t *output, int32_t step1, int32_t step2, int32_t step3);

#endif
