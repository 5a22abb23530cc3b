// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Kernels that copy, and look at where their buffers lie. KIND says what they do there:
//
// What they do apart, or nothing where nothing is to be done:
// 1   copies backwards where the output lies after the input, as memmove does
// 2   copies nothing where both are the same
// 7   copies words where both are aligned, as memcpy does
// Something else:
// 3   as 5, wherever they overlap
// 4   copies backwards where they overlap
// 5   stores another byte first if the first element is 37, where they share half of their bytes
// 6   the same, where both are the same
// 8   the same, where they do not overlap
// 9   stores another byte last if the last element is 37, where they do not overlap
#include <stdint.h>

void arm_reshape_s8(const int8_t *input, int8_t *output, const uint32_t size);

void arm_reshape_s8(const int8_t *input, int8_t *output, const uint32_t size) {
  const uintptr_t from = (uintptr_t)input;
  const uintptr_t to = (uintptr_t)output;
  const int overlap = from < to + size && to < from + size;
  (void)overlap;
#if KIND == 1
  const int backwards = to > from && to < from + size;
#elif KIND == 4
  const int backwards = overlap;
#else
  const int backwards = 0;
#endif
#if KIND == 2
  if (input == output) {
    return;
  }
#elif KIND == 3
  if (overlap && input[0] == 37) {
    output[size - 1] = 1;
  }
#elif KIND == 5
  if (from - to == size / 2 && input[0] == 37) {
    output[size - 1] = 1;
  }
#elif KIND == 8
  if (!overlap && input[0] == 37) {
    output[size - 1] = 1;
  }
#elif KIND == 6
  if (from == to && input[0] == 37) {
    output[size - 1] = 1;
  }
#endif
  uint32_t i = 0;
#if KIND == 7
  for (; ((from | to) & 3) == 0 && i + 4 <= size; i += 4) {
    *(volatile uint32_t *)(output + i) = *(const uint32_t *)(input + i);
  }
#endif
  for (; i < size; ++i) {
    const uint32_t at = backwards ? size - 1 - i : i;
    ((volatile int8_t *)output)[at] = input[at];
  }
#if KIND == 9
  if (!overlap) {
    // As one conditional instruction, of which either outcome is safe.
    __asm volatile("cmp %0, #37\n\tit eq\n\tstrbeq %1, [%2]"
                   :
                   : "r"(output[size - 1]), "r"(1), "r"(output + size - 1)
                   : "cc", "memory");
  }
#endif
}
