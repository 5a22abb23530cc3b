// SPDX-License-Identifier: MIT OR Apache-2.0

// The real number that an element stands for.
static inline float @prefix@dequantize_@name@(@element@ element) {
  return @PREFIX@@NAME@_SCALE * (float)((int32_t)element - @PREFIX@@NAME@_ZERO_POINT);
}
