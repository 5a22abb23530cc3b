// SPDX-License-Identifier: MIT OR Apache-2.0

// The element that stands for a real number, rounded to nearest; NaN becomes the least.
static inline @element@ @prefix@quantize_@name@(float value) {
  const float scaled = value / @PREFIX@@NAME@_SCALE;
  const float least = (float)(@least@ - @PREFIX@@NAME@_ZERO_POINT);
  const float most = (float)(@most@ - @PREFIX@@NAME@_ZERO_POINT);
  if (!(scaled > least)) {
    return @least@;
  }
  if (scaled >= most) {
    return @most@;
  }
  const int32_t whole = (int32_t)scaled;
  const float rest = scaled - (float)whole;
  const int32_t up = rest >= 0.5f ? 1 : 0;
  const int32_t down = rest <= -0.5f ? 1 : 0;
  return (@element@)(whole + up - down + @PREFIX@@NAME@_ZERO_POINT);
}
