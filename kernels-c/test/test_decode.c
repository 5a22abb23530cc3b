// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "dmo_decode.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 2000, MOST_CHANNELS = 4, MOST_RUN = 9 };

// Appends the lowest bits of a number, the highest of them first.
static void append(uint8_t *encoded, int32_t *position, uint32_t number, int32_t bits) {
  for (int32_t bit = bits - 1; bit >= 0; --bit, ++*position) {
    encoded[*position >> 3] |= (uint8_t)((number >> bit & 1u) << (7 - (*position & 7)));
  }
}

static void check(dmo_packed *packed, const uint8_t *encoded, int32_t bits, const void *values, const int8_t *zero_points,
                  const void *expected, const char *name) {
  packed->encoded_bytes = (bits + 7) / 8;
  // No larger than it has to be, so that a sanitizer notices what is loaded beyond.
  uint8_t *exact = malloc((size_t)packed->encoded_bytes);
  memcpy(exact, encoded, (size_t)packed->encoded_bytes);
  const int32_t size = packed->elements * packed->element_bytes;
  int64_t *output = malloc((size_t)size + sizeof *output);
  memset(output, 0x5a, (size_t)size + sizeof *output);
  dmo_decode(packed, exact, values, zero_points, output);
  const int8_t after = ((const int8_t *)output)[size];
  CHECK(memcmp(output, expected, (size_t)size) == 0 && after == 0x5a, name, packed->elements);
  free(exact), free(output);
}

static dmo_packed random_packed(int32_t element_bytes) {
  dmo_packed packed = { .element_bytes = element_bytes, .channels = random_between(1, MOST_CHANNELS) };
  const int32_t groups = random_between(1, 3);
  packed.run = random_between(1, MOST_RUN);
  packed.elements = packed.run * packed.channels * groups;
  return packed;
}

static void table_and_pruned(void) {
  dmo_packed packed = random_packed(1 << random_between(0, 3));
  const int32_t size = packed.element_bytes, most = packed.elements * size;
  packed.bits = random_between(1, 7), packed.stride = 1 << packed.bits;
  int8_t *values = random_s8(packed.channels * packed.stride * size), *expected = random_s8(most);
  uint8_t *encoded = calloc((size_t)packed.elements, 1);
  int32_t position = 0;
  for (int32_t e = 0; e < packed.elements; ++e) {
    const int32_t index = random_between(0, packed.stride - 1), channel = e / packed.run % packed.channels;
    append(encoded, &position, (uint32_t)index, packed.bits);
    memcpy(expected + e * size, values + (channel * packed.stride + index) * size, (size_t)size);
  }
  packed.packing = DMO_PACKED_TABLE;
  check(&packed, encoded, position, values, NULL, expected, "decode of tables");
  free(values);

  int8_t *kept = random_s8(most + 1), *points = random_s8(packed.channels);
  int32_t next = 0;
  memset(encoded, 0, (size_t)packed.elements);
  position = 0;
  for (int32_t e = 0; e < packed.elements; ++e) {
    const int32_t is_kept = random_between(0, 1), channel = e / packed.run % packed.channels;
    append(encoded, &position, (uint32_t)is_kept, 1);
    for (int32_t byte = 0; byte < size; ++byte) {
      const int8_t of_zero = byte == 0 ? points[channel] : points[channel] < 0 ? -1 : 0;
      expected[e * size + byte] = is_kept != 0 ? kept[next++] : of_zero;
    }
  }
  packed.packing = DMO_PACKED_PRUNED;
  check(&packed, encoded, position, kept, points, expected, "decode of what was pruned");
  free(kept), free(points), free(encoded), free(expected);
}

// Codes of n ones and a zero for element n, looked up by `bits` at a time, in tables that follow each other.
static void huffman(void) {
  dmo_packed packed = random_packed(random_between(1, 2));
  packed.packing = DMO_PACKED_HUFFMAN, packed.channels = 1, packed.bits = random_between(1, 4);
  packed.stride = packed.element_bytes == 2 ? 4 : 2 * random_between(1, 2);
  const int32_t tables = random_between(1, 3), entries = 1 << packed.bits, shift = 8 * packed.stride - 5;
  const int32_t symbols = tables * packed.bits;
  uint32_t wide[3 * 16];
  uint16_t narrow[3 * 16];
  int32_t *elements = random_s32(symbols, 0, packed.element_bytes == 1 ? 255 : 65535);
  for (int32_t table = 0; table < tables; ++table) {
    for (int32_t index = 0; index < entries; ++index) {
      int32_t ones = 0;
      while (ones < packed.bits && (index >> (packed.bits - 1 - ones) & 1) != 0) {
        ++ones;
      }
      const int32_t at = table * entries + index;
      const uint32_t found = 1u << (shift + 4) | (uint32_t)(ones + 1) << shift;
      // The last table is never left: its only ones are no code.
      const uint32_t further = (uint32_t)(packed.bits - 1) << shift | (uint32_t)(entries - index);
      const int32_t symbol = table * packed.bits + ones;
      wide[at] = ones == packed.bits ? further : found | (uint32_t)elements[symbol];
      narrow[at] = (uint16_t)wide[at];
    }
  }
  uint8_t *encoded = calloc((size_t)(packed.elements * symbols), 1);
  int16_t *expected = malloc((size_t)packed.elements * sizeof *expected);
  int32_t position = 0;
  for (int32_t e = 0; e < packed.elements; ++e) {
    const int32_t symbol = random_between(0, symbols - 1);
    append(encoded, &position, (1u << (symbol + 1)) - 2u, symbol + 1);
    if (packed.element_bytes == 1) {
      ((uint8_t *)expected)[e] = (uint8_t)elements[symbol];
    } else {
      expected[e] = (int16_t)(uint16_t)elements[symbol];
    }
  }
  check(&packed, encoded, position, packed.stride == 2 ? (const void *)narrow : (const void *)wide, NULL, expected,
        "decode of codes");
  free(elements), free(encoded), free(expected);
}

void test_decode(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    table_and_pruned();
    huffman();
  }
}
