// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Four pixels by packed filters: the inside of the convolution of dmo_dsp_packed.h.
#ifndef PACKED_MULTIPLY_H
#define PACKED_MULTIPLY_H

#include "dsp_multiply.h"

#if DSP_INSTRUCTIONS
// What the assembly has on its stack, in this order.
typedef struct {
  int8_t *output;                      // of the first pixel, and bytes from one pixel to the next
  int32_t step1, step2, step3;
  uint32_t rows, rows_last;            // addresses; lowered by the groups that are skipped, and the start of the last block
  uint32_t skipped_code_bytes;         // the assembly makes it an address
  int32_t half_offset;                 // of dsp_range
  const uint32_t *packed_end;
  int32_t saturated_min, min;          // of dsp_range
} packed_block;
#endif

// What all pixels of a layer share.
typedef struct {
  const uint32_t *packed;
  int32_t channels;
  int32_t pair_words; // of two channels
#if DSP_INSTRUCTIONS
  packed_block block;
  void (*multiply)(const packed_block *block, const uint32_t *packed);
#else
  dsp_range range;
  const uint32_t *rows;
  int32_t groups;
#endif
} packed_layer;

// rows: four patches, widened in `groups` groups as dsp_multiply.h says.
packed_layer packed_prepare(const dsp_range *range, const uint32_t *rows, int32_t groups, const uint32_t *packed,
                            int32_t channels);

// Stores the outputs of `pixels` pixels, 1 to 4, one after the other; patches beyond them are copies of the last.
void packed_multiply(packed_layer *layer, int8_t *output, int32_t pixels);

#endif
