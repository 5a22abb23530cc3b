// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Constants that are stored packed: TFLM_DECODE of TensorFlow Lite Micro.
#ifndef DMO_DECODE_H
#define DMO_DECODE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  // An index for each element into its channel's table of values.
  DMO_PACKED_TABLE = 0,
  // A code of variable length for each element, looked up in tables. An entry's highest bit says that it is an element, the
  // four bits after it how many bits its code has in this table, or how many less one are looked up next; the others are
  // the element, or how many entries further on, counted from here, the next table begins.
  DMO_PACKED_HUFFMAN = 1,
  // A bit for each element: the next value where it is 1, else its channel's zero point.
  DMO_PACKED_PRUNED = 2,
} dmo_packing;

typedef struct {
  // One of dmo_packing.
  int32_t packing;
  // Element e of `elements`, of 1, 2, 4 or 8 bytes each, belongs to channel e / run % channels.
  int32_t elements, element_bytes, channels, run;
  // Of an index (1 to 7), or of what is looked up first (1 to 16).
  int32_t bits;
  // Elements of a channel's table, or bytes of an entry (2 or 4).
  int32_t stride;
  int32_t encoded_bytes;
} dmo_packed;

// Stores each element in ascending order, and loads no activation. The bits of `encoded` come the highest of a byte first,
// and what is looked up beyond its end is 0. `values` has the tables or values, at least as many as there are indices, codes
// and bits of 1; zero_points [channels] is of DMO_PACKED_PRUNED alone. Scratch: none.
void dmo_decode(const dmo_packed *packed, const uint8_t *encoded, const void *values, const int8_t *zero_points,
                void *output);

#ifdef __cplusplus
}
#endif

#endif
