// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A layer whose loads are in a function of its own and whose stores are inlined, with variables of many types.
#include "dmo_trace.h"

#include <stdbool.h>
#include <stdint.h>

enum order { FORWARD, BACKWARD };

struct extent {
  int32_t h, w, c;
};

static int16_t input[3 * 4 * 5], output[3 * 4 * 5];

#ifdef ASSEMBLY
// As a C library's memcpy: without call frame information.
int16_t get(const int16_t *from, int32_t at);
__asm__(".pushsection .text.get, \"ax\"\n"
        ".syntax unified\n"
        ".thumb_func\n"
        ".type get, %function\n"
        "get: lsls r1, r1, #1\n"
        "ldrsh r0, [r0, r1]\n"
        "bx lr\n"
        ".size get, . - get\n"
        ".popsection\n");
#else
__attribute__((noinline, noclone)) static int16_t get(const int16_t *from, int32_t at) { return from[at]; }
#endif

__attribute__((always_inline)) static inline void put(int16_t *to, int32_t at, int64_t sum) {
  to[at] = (int16_t)sum;
}

// Each element with its neighbours in a row.
__attribute__((noinline, noclone)) void blur(const struct extent *extent, const int16_t *in, int16_t *out,
                                             enum order order, float scale) {
  const bool even = extent->w % 2 == 0;
  static uint8_t calls;
  ++calls;
  for (int32_t y = 0; y < extent->h; ++y) {
    for (int32_t x = 0; x < extent->w; ++x) {
      for (int32_t c = 0; c < extent->c; ++c) {
        volatile int32_t taps[2] = { order == BACKWARD ? -1 : 1, even };
        int64_t sum = -5000000000;
        for (int32_t k = -1; k <= 1; ++k) {
          const int32_t column = x + k;
          if (column >= 0 && column < extent->w) {
            sum += get(in, (y * extent->w + column) * extent->c + c) * taps[0];
          }
        }
        put(out, (y * extent->w + x) * extent->c + c, (int64_t)((float)sum * scale));
      }
    }
  }
}

int main(void) {
  static const struct extent extent = { 3, 4, 5 };
  const dmo_buffer buffers[] = {
    { "input", input, sizeof input, DMO_INPUT, DMO_INT16, 0 },
    { "output", output, sizeof output, DMO_OUTPUT, DMO_INT16, 0 },
  };
  dmo_layer_begin("blur", "blur", buffers, 2);
  blur(&extent, input, output, BACKWARD, 0.5F);
  dmo_layer_end();
  return 0;
}
