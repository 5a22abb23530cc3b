// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle.h"

oracle_position oracle_position_of(const dmo_shape *shape, int64_t index) {
  const int64_t row = (int64_t)shape->w * shape->c;
  const int64_t image = shape->h * row;
  return (oracle_position){
    .n = index / image,
    .h = index % image / row,
    .w = index % row / shape->c,
    .c = index % shape->c,
  };
}

int64_t oracle_index(const dmo_shape *shape, int64_t n, int64_t h, int64_t w, int64_t c) {
  const int64_t row = (int64_t)shape->w * shape->c;
  return n * (shape->h * row) + h * row + w * shape->c + c;
}

int64_t oracle_clamp(int64_t value, int64_t min, int64_t max) {
  if (value > max) {
    value = max;
  }
  return value >= min ? value : min;
}

double oracle_clamp_f64(double value, double min, double max) {
  if (value > max) {
    value = max;
  }
  return value >= min ? value : min;
}

int64_t oracle_divide_rounding(int64_t dividend, int64_t divisor) {
  const int64_t magnitude = dividend < 0 ? -dividend : dividend;
  const int64_t quotient = magnitude / divisor;
  const int64_t remainder = magnitude % divisor;
  const int64_t rounded = quotient + (remainder >= divisor - remainder ? 1 : 0);
  return dividend < 0 ? -rounded : rounded;
}

// product / 2^31 to nearest; a half goes up, towards plus infinity, which for negative numbers is towards zero.
static int64_t divide_by_2_31(int64_t product) {
  const int64_t unit = INT64_C(1) << 31;
  const int64_t rounded = oracle_divide_rounding(product, unit);
  const int half = (product < 0 ? -product : product) % unit == unit / 2;
  return product < 0 && half ? rounded + 1 : rounded;
}

int64_t oracle_requantize(int64_t value, int32_t multiplier, int32_t shift) {
  if (shift > 0) {
    value *= INT64_C(1) << shift;
  }
  int64_t scaled = divide_by_2_31(value * multiplier);
  if (scaled > INT32_MAX) {
    scaled = INT32_MAX;
  }
  return shift < 0 ? oracle_divide_rounding(scaled, INT64_C(1) << -shift) : scaled;
}

oracle_window oracle_window_of(int64_t output, int64_t stride, int64_t pad, int64_t taps, int64_t dilation,
                               int64_t input_extent) {
  const int64_t origin = output * stride - pad;
  const int64_t end = origin + (taps - 1) * dilation;
  return (oracle_window){
    .origin = origin,
    .first = origin > 0 ? origin : 0,
    .last = end < input_extent - 1 ? end : input_extent - 1,
  };
}
