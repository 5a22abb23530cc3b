// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Loads and stores of the kinds that a tracer easily gets wrong: conditional ones inside IT blocks, multiple and double
// words, floating-point registers, unaligned words, the tails of memcpy, and pushes and pops around them. Each layer's
// work is a function of its own; test/instructions.sh checks that it still holds the instructions it is there for.
#include "dmo_trace.h"
#include "example.h"

#include <string.h>

#define LAYER __attribute__((noinline)) static void

enum { ELEMENTS = 203 }; // odd, and no multiple of a word

static int8_t input[ELEMENTS], output[ELEMENTS];

static void begin(const char *name, const char *op, const void *in, uint32_t in_bytes, const void *out,
                  uint32_t out_bytes, uint8_t type) {
  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, type, in, in_bytes),
    DMO_BUFFER("output", DMO_OUTPUT, type, out, out_bytes),
  };
  dmo_layer_begin(name, op, buffers, COUNT(buffers));
}

// Loads the elements whose index has bit 0 or bit 2 set; LDRSB in an IT block.
LAYER load_conditionally(void) {
  for (uint32_t i = 0; i < ELEMENTS; ++i) {
    int8_t value = -1;
    if ((i & 5u) != 0) {
      value = input[i];
    }
    output[i] = value;
  }
}

static int check_conditional_load(void) {
  fill_s8(input, ELEMENTS, 1);
  begin("conditional_load", "select", input, sizeof input, output, sizeof output, DMO_INT8);
  load_conditionally();
  dmo_layer_end();
  for (int32_t i = 0; i < ELEMENTS; ++i) {
    const int32_t expected = i % 2 == 1 || i / 4 % 2 == 1 ? input[i] : -1;
    if (output[i] != expected) {
      return wrong_s32("conditional_load", i, expected, output[i]);
    }
  }
  return 0;
}

// Stores zero everywhere, then the larger elements; STRB in an IT block.
LAYER store_conditionally(void) {
  for (uint32_t i = 0; i < ELEMENTS; ++i) {
    output[i] = 0;
  }
  for (uint32_t i = 0; i < ELEMENTS; ++i) {
    const int8_t value = input[i];
    if (value > 10) {
      output[i] = value;
    }
  }
}

static int check_conditional_store(void) {
  fill_s8(input, ELEMENTS, 2);
  begin("conditional_store", "select", input, sizeof input, output, sizeof output, DMO_INT8);
  store_conditionally();
  dmo_layer_end();
  for (int32_t i = 0; i < ELEMENTS; ++i) {
    const int32_t expected = input[i] <= 10 ? 0 : input[i];
    if (output[i] != expected) {
      return wrong_s32("conditional_store", i, expected, output[i]);
    }
  }
  return 0;
}

// The larger of two neighbours: copies the first, then overwrites it, STRB in an IT block, where the second is larger.
LAYER keep_maximum(void) {
  for (uint32_t i = 0; i < ELEMENTS / 2; ++i) {
    output[i] = input[2 * i];
  }
  for (uint32_t i = 0; i < ELEMENTS / 2; ++i) {
    if (input[2 * i + 1] > output[i]) {
      output[i] = input[2 * i + 1];
    }
  }
}

static int check_maximum(void) {
  fill_s8(input, ELEMENTS, 3);
  begin("maximum", "maximum", input, sizeof input, output, ELEMENTS / 2, DMO_INT8);
  keep_maximum();
  dmo_layer_end();
  for (int32_t i = 0; i < ELEMENTS / 2; ++i) {
    const int32_t a = input[2 * i], b = input[2 * i + 1];
    const int32_t expected = a < b ? b : a;
    if (output[i] != expected) {
      return wrong_s32("maximum", i, expected, output[i]);
    }
  }
  return 0;
}

// Copies of 0, 1, 2 .. 19 bytes one behind the other, so that source and destination take on every alignment. The
// library's memcpy copies its last bytes in IT blocks.
LAYER copy_in_odd_pieces(void) {
  uint32_t at = 0;
  for (uint32_t size = 0; size < 20; ++size) {
    memcpy(&output[at], &input[at], size);
    at += size;
  }
  memcpy(&output[at], &input[at + 1], ELEMENTS - at - 1);
}

static int check_odd_copies(void) {
  enum { IN_PLACE = 19 * 20 / 2 };
  fill_s8(input, ELEMENTS, 4);
  begin("memcpy_tails", "copy", input, sizeof input, output, ELEMENTS - 1, DMO_INT8);
  copy_in_odd_pieces();
  dmo_layer_end();
  for (int32_t i = 0; i < ELEMENTS - 1; ++i) {
    const int32_t expected = input[i < IN_PLACE ? i : i + 1];
    if (output[i] != expected) {
      return wrong_s32("memcpy_tails", i, expected, output[i]);
    }
  }
  return 0;
}

typedef struct {
  int32_t words[9];
} record;

enum { RECORDS = 6 };
static record records_in[RECORDS], records_out[RECORDS];

// Reverses an array of structures; LDM and STM.
LAYER copy_structures(void) {
  for (uint32_t i = 0; i < RECORDS; ++i) {
    records_out[i] = records_in[RECORDS - 1 - i];
  }
}

static int check_structures(void) {
  for (int32_t i = 0; i < RECORDS; ++i) {
    fill_bias(records_in[i].words, 9, 5 + (uint32_t)i);
  }
  begin("struct_copy", "reverse", records_in, sizeof records_in, records_out, sizeof records_out, DMO_INT32);
  copy_structures();
  dmo_layer_end();
  for (int32_t i = 0; i < RECORDS * 9; ++i) {
    const int32_t expected = records_in[RECORDS - 1 - i / 9].words[i % 9];
    const int32_t actual = records_out[i / 9].words[i % 9];
    if (actual != expected) {
      return wrong_s32("struct_copy", i, expected, actual);
    }
  }
  return 0;
}

enum { PAIRS = 17 };
typedef struct {
  int64_t first, second;
} pair;
static pair pairs_in[PAIRS], pairs_out[PAIRS];

// 64-bit arithmetic; LDRD and STRD.
LAYER add_in_64_bit(void) {
  for (uint32_t i = 0; i < PAIRS; ++i) {
    pairs_out[i].second = pairs_in[i].second + INT64_C(0x100000001);
    pairs_out[i].first = pairs_in[i].first + INT64_C(0x100000001);
  }
}

static int check_64_bit(void) {
  for (int32_t i = 0; i < PAIRS; ++i) {
    pairs_in[i] = (pair){ i * INT64_C(0x123456789) - 7, i * INT64_C(0x234567891) - 8 };
  }
  begin("double_word", "increment", pairs_in, sizeof pairs_in, pairs_out, sizeof pairs_out, DMO_INT64);
  add_in_64_bit();
  dmo_layer_end();
  for (int32_t i = 0; i < PAIRS; ++i) {
    const int64_t first = pairs_out[i].first - pairs_in[i].first;
    const int64_t second = pairs_out[i].second - pairs_in[i].second;
    if (first != (INT64_C(1) << 32) + 1 || second != first) {
      return wrong_s32("double_word", i, 1, (int32_t)first);
    }
  }
  return 0;
}

enum { FLOATS = 40 };
static float floats_in[FLOATS], floats_out[FLOATS];

// Blocks of eight floats; VLDM and VSTM where there is an FPU.
LAYER copy_float_blocks(void) {
#ifdef __ARM_FP
  const float *in = floats_in;
  float *out = floats_out;
  for (uint32_t block = 0; block < FLOATS / 8; ++block) {
    __asm__ volatile("vldmia %0!, {s0-s7}\n\tvstmia %1!, {s0-s7}"
                     : "+r"(in), "+r"(out)
                     :
                     : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "memory");
  }
#else
  for (uint32_t i = 0; i < FLOATS; ++i) {
    floats_out[i] = floats_in[i];
  }
#endif
}

static int check_float_blocks(void) {
  fill_f32(floats_in, FLOATS, 6);
  begin("float_blocks", "copy", floats_in, sizeof floats_in, floats_out, sizeof floats_out, DMO_FLOAT32);
  copy_float_blocks();
  dmo_layer_end();
  for (int32_t i = 0; i < FLOATS; ++i) {
    if (floats_out[i] != floats_in[i]) {
      return wrong_f32("float_blocks", i, floats_in[i], floats_out[i]);
    }
  }
  return 0;
}

static float load_float(uint32_t i) {
  return floats_in[i];
}

// Called through a volatile pointer, so that the caller must expect it to change every register that it may.
static float (*volatile next_input)(uint32_t) = load_float;

// Four floats live across calls; VPUSH and VPOP, and VLDR, where there is an FPU.
LAYER sum_neighbours(void) {
  for (uint32_t i = 0; i + 3 < FLOATS; ++i) {
    const float a = next_input(i);
    const float b = next_input(i + 1);
    const float c = next_input(i + 2);
    const float d = next_input(i + 3);
    floats_out[i] = (a + b) + (c + d);
  }
}

static int check_neighbours(void) {
  fill_f32(floats_in, FLOATS, 7);
  begin("float_neighbours", "sum", floats_in, sizeof floats_in, floats_out, (FLOATS - 3) * sizeof(float), DMO_FLOAT32);
  sum_neighbours();
  dmo_layer_end();
  for (int32_t i = 0; i + 3 < FLOATS; ++i) {
    float expected = 0.0f;
    for (int32_t j = 3; j >= 0; --j) {
      expected += floats_in[i + j];
    }
    if (floats_out[i] != expected) {
      return wrong_f32("float_neighbours", i, expected, floats_out[i]);
    }
  }
  return 0;
}

// A word behind one byte: never at an address that is a multiple of four in every element.
typedef struct __attribute__((packed)) {
  uint8_t tag;
  int32_t word;
} packed_record;

enum { PACKED = 24 };
static packed_record packed_in[PACKED], packed_out[PACKED];

// Unaligned words, as members of packed structures and through memcpy of four bytes.
LAYER access_unaligned(void) {
  for (uint32_t i = 0; i < PACKED; ++i) {
    int32_t word;
    memcpy(&word, (const uint8_t *)&packed_in[i] + 1, sizeof word);
    packed_out[i].word = word + 1;
    packed_out[i].tag = packed_in[i].tag;
  }
}

static int check_unaligned(void) {
  for (int32_t i = 0; i < PACKED; ++i) {
    packed_in[i].tag = (uint8_t)i;
    packed_in[i].word = i * 0x01020304;
  }
  begin("unaligned", "increment", packed_in, sizeof packed_in, packed_out, sizeof packed_out, DMO_UINT8);
  access_unaligned();
  dmo_layer_end();
  for (int32_t i = 0; i < PACKED; ++i) {
    if (packed_out[i].word - packed_in[i].word != 1 || packed_out[i].tag != packed_in[i].tag) {
      return wrong_s32("unaligned", i, packed_in[i].word + 1, packed_out[i].word);
    }
  }
  return 0;
}

// Copies by halving, down to single elements; PUSH and POP in every call.
__attribute__((noinline)) static void copy_recursively(uint32_t first, uint32_t end) {
  if (end - first == 1) {
    output[first] = input[first];
    return;
  }
  const uint32_t middle = first + (end - first) / 2;
  copy_recursively(middle, end);
  copy_recursively(first, middle);
}

static int check_recursion(void) {
  fill_s8(input, ELEMENTS, 8);
  begin("recursion", "copy", input, sizeof input, output, sizeof output, DMO_INT8);
  copy_recursively(0, ELEMENTS);
  dmo_layer_end();
  for (int32_t i = 0; i < ELEMENTS; ++i) {
    if (output[i] != input[i]) {
      return wrong_s32("recursion", i, input[i], output[i]);
    }
  }
  return 0;
}

int main(void) {
  return check_conditional_load() || check_conditional_store() || check_maximum() || check_odd_copies() ||
         check_structures() || check_64_bit() || check_float_blocks() || check_neighbours() || check_unaligned() ||
         check_recursion();
}
