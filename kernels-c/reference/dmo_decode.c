// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_decode.h"
#include "dmo_copy_element.h"

// At most 16 bits from a position on.
static uint32_t bits_at(const dmo_packed *packed, const uint8_t *encoded, int32_t position, int32_t count) {
  const int32_t first = position >> 3;
  uint32_t window = 0;
  for (int32_t byte = first; byte < first + 3; ++byte) {
    window = window << 8 | (byte < packed->encoded_bytes ? encoded[byte] : 0u);
  }
  return window >> (24 - (position & 7) - count) & ((1u << count) - 1u);
}

static uint32_t entry_at(const void *tables, uint32_t place, int32_t bytes) {
  return bytes == 2 ? ((const uint16_t *)tables)[place] : ((const uint32_t *)tables)[place];
}

// The element whose code begins at a position, which goes on to that after it.
static uint32_t next_symbol(const dmo_packed *packed, const uint8_t *encoded, const void *tables, int32_t *position) {
  const int32_t value_bits = 8 * packed->stride - 5;
  int32_t bits = packed->bits;
  uint32_t place = bits_at(packed, encoded, *position, bits);
  uint32_t entry = entry_at(tables, place, packed->stride);
  while ((entry >> (value_bits + 4) & 1u) == 0) {
    *position += bits;
    bits = (int32_t)(entry >> value_bits & 0xf) + 1;
    place += (entry & ((1u << value_bits) - 1u)) + bits_at(packed, encoded, *position, bits);
    entry = entry_at(tables, place, packed->stride);
  }
  const int32_t used = (int32_t)(entry >> value_bits & 0xf);
  *position += used < bits ? used : bits;
  return entry & ((1u << value_bits) - 1u);
}

// The lowest bytes of a number, which come first.
static void store_number(int64_t number, int32_t element_bytes, char *to) {
  dmo_copy_element(element_bytes, (const char *)&number, to);
}

void dmo_decode(const dmo_packed *packed, const uint8_t *encoded, const void *values, const int8_t *zero_points,
                void *output) {
  const int32_t size = packed->element_bytes;
  const char *next = values;
  char *to = output;
  int32_t position = 0;
  for (int32_t element = 0; element < packed->elements; ++element, to += size) {
    const int32_t channel = element / packed->run % packed->channels;
    if (packed->packing == DMO_PACKED_HUFFMAN) {
      store_number(next_symbol(packed, encoded, values, &position), size, to);
    } else if (packed->packing == DMO_PACKED_TABLE) {
      const uint32_t index = bits_at(packed, encoded, position, packed->bits);
      position += packed->bits;
      dmo_copy_element(size, next + (channel * packed->stride + (int32_t)index) * size, to);
    } else if (bits_at(packed, encoded, element, 1) == 1) {
      dmo_copy_element(size, next, to);
      next += size;
    } else {
      store_number(zero_points[channel], size, to);
    }
  }
}
