// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Operators of two inputs and more, with broadcasting.
#include "check.h"
#include "oracle_operators.h"
#include "dmo_choice.h"

#include <stdlib.h>

enum { CASES = 1500, MAX_INPUTS = 4 };

// Shapes of two inputs of which each is broadcast on some axes, and of the output.
typedef struct {
  dmo_shape one, other, out;
  int32_t count;
} shapes;

static int32_t narrowed(int32_t extent) {
  return random_between(0, 2) == 0 ? 1 : extent;
}

static int32_t larger(int32_t a, int32_t b) {
  return a > b ? a : b;
}

static shapes random_shapes(void) {
  const dmo_shape full = random_shape(3, 3, 4, 5);
  const dmo_shape one = { narrowed(full.n), narrowed(full.h), narrowed(full.w), narrowed(full.c) };
  const dmo_shape other = { narrowed(full.n), narrowed(full.h), narrowed(full.w), narrowed(full.c) };
  const dmo_shape out = { larger(one.n, other.n), larger(one.h, other.h), larger(one.w, other.w),
                          larger(one.c, other.c) };
  return (shapes){ one, other, out, dmo_shape_size(&out) };
}

static int64_t at_one(const shapes *s, int32_t i) {
  return oracle_broadcast_source(&s->one, &s->out, i);
}

static int64_t at_other(const shapes *s, int32_t i) {
  return oracle_broadcast_source(&s->other, &s->out, i);
}

static dmo_quant_per_tensor ratio(int32_t least, int32_t greatest) {
  return (dmo_quant_per_tensor){ random_between(1 << 30, INT32_MAX), random_between(least, greatest) };
}

static int64_t requantized(const dmo_quant_per_tensor *quant, int64_t value) {
  return oracle_requantize(value, quant->multiplier, quant->shift);
}

static int64_t oracle_prelu(const dmo_prelu_params *params, int64_t value, int64_t slope) {
  const int64_t scaled =
      value < 0 ? requantized(&params->negative, value * slope) : requantized(&params->positive, value);
  return scaled + params->output_offset;
}

static void prelu(void) {
  const shapes s = random_shapes();
  const dmo_prelu_params narrow = { random_between(-128, 128), random_between(-128, 128), random_between(-128, 127),
                                    ratio(-8, 8), ratio(-12, 6) };
  const dmo_prelu_params wide = { 0, random_between(-128, 128), 0, ratio(-8, 8), ratio(-12, 6) };
  int8_t *slopes = edgy_s8(dmo_shape_size(&s.other)), *in8 = edgy_s8(dmo_shape_size(&s.one)), *out8 = edgy_s8(s.count);
  int16_t *in16 = edgy_s16(dmo_shape_size(&s.one)), *out16 = edgy_s16(s.count);
  float *in = random_f32(dmo_shape_size(&s.one)), *alpha = random_f32(dmo_shape_size(&s.other));
  float *out = random_f32(s.count);

  dmo_prelu_s8(&narrow, &s.one, in8, &s.other, slopes, &s.out, out8);
  dmo_prelu_s16(&wide, &s.one, in16, &s.other, slopes, &s.out, out16);
  dmo_prelu_f32(&s.one, in, &s.other, alpha, &s.out, out);
  int32_t i = 0;
  while (i < s.count) {
    const int64_t slope = slopes[at_other(&s, i)], one = at_one(&s, i);
    const double real = (double)in[one];
    const int64_t exact8 = oracle_prelu(&narrow, in8[one] + narrow.input_offset, slope + narrow.alpha_offset);
    const int64_t exact16 = oracle_prelu(&wide, in16[one], slope + wide.alpha_offset);
    if (out8[i] != oracle_clamp(exact8, -128, 127) || out16[i] != oracle_clamp(exact16, -32768, 32767) ||
        (double)out[i] != real * (real < 0.0 ? (double)alpha[at_other(&s, i)] : 1.0)) {
      break;
    }
    ++i;
  }
  CHECK(i == s.count, "prelu", i);
  free(slopes), free(in8), free(out8), free(in16), free(out16), free(in), free(alpha), free(out);
}

static void extremes(void) {
  const shapes s = random_shapes();
  int16_t *a16 = edgy_s16(dmo_shape_size(&s.one)), *b16 = edgy_s16(dmo_shape_size(&s.other));
  int16_t *high16 = edgy_s16(s.count), *low16 = edgy_s16(s.count);
  int32_t *a32 = random_s32(dmo_shape_size(&s.one), INT32_MIN, INT32_MAX);
  int32_t *b32 = random_s32(dmo_shape_size(&s.other), INT32_MIN, INT32_MAX);
  int32_t *high32 = random_s32(s.count, 0, 1), *low32 = random_s32(s.count, 0, 1);

  dmo_maximum_s16(&s.one, a16, &s.other, b16, &s.out, high16);
  dmo_minimum_s16(&s.one, a16, &s.other, b16, &s.out, low16);
  dmo_maximum_s32(&s.one, a32, &s.other, b32, &s.out, high32);
  dmo_minimum_s32(&s.one, a32, &s.other, b32, &s.out, low32);
  int32_t i = 0;
  while (i < s.count) {
    const int64_t one = at_one(&s, i), other = at_other(&s, i);
    if (high16[i] != oracle_clamp(a16[one], b16[other], INT16_MAX) ||
        low16[i] != oracle_clamp(a16[one], INT16_MIN, b16[other]) ||
        high32[i] != oracle_clamp(a32[one], b32[other], INT32_MAX) ||
        low32[i] != oracle_clamp(a32[one], INT32_MIN, b32[other])) {
      break;
    }
    ++i;
  }
  CHECK(i == s.count, "maximum or minimum", i);
  free(a16), free(b16), free(high16), free(low16), free(a32), free(b32), free(high32), free(low32);
}

static bool oracle_relation(dmo_relation relation, double a, double b) {
  const bool is_less = a < b, is_greater = a > b;
  switch (relation) {
  case DMO_EQUAL: return !is_less && !is_greater;
  case DMO_NOT_EQUAL: return is_less || is_greater;
  case DMO_GREATER: return is_greater;
  case DMO_GREATER_EQUAL: return !is_less;
  case DMO_LESS: return is_less;
  default: return !is_greater;
  }
}

// Integers in a few bits, so that products fit, or in all, of which the last 32 bits of the exact result are left.
static void arithmetic_s32(void) {
  const shapes s = random_shapes();
  const int32_t greatest = random_between(0, 1) == 0 ? 20 : INT32_MAX;
  const dmo_binary_s32_params params = { random_between(-1000000, 0), random_between(0, 1000000) };
  int32_t *a = random_s32(dmo_shape_size(&s.one), -greatest, greatest);
  int32_t *b = random_s32(dmo_shape_size(&s.other), -greatest, greatest);
  a[0] = INT32_MIN, b[0] = random_between(-1, 0);
  int32_t *results[5], i = 0, wrong = 0;
  for (int32_t k = 0; k < 5; ++k) {
    results[k] = random_s32(s.count, 0, 1);
  }

  dmo_broadcast_add_s32(&params, &s.one, a, &s.other, b, &s.out, results[0]);
  dmo_broadcast_sub_s32(&params, &s.one, a, &s.other, b, &s.out, results[1]);
  dmo_broadcast_mul_s32(&params, &s.one, a, &s.other, b, &s.out, results[2]);
  dmo_broadcast_div_s32(&params, &s.one, a, &s.other, b, &s.out, results[3]);
  dmo_squared_difference_s32(&s.one, a, &s.other, b, &s.out, results[4]);
  for (; i < s.count; ++i) {
    const int64_t one = a[at_one(&s, i)], other = b[at_other(&s, i)];
    const uint64_t difference = (uint64_t)(one - other);
    const int64_t exact[] = { one + other, one - other, one * other, other == 0 ? 0 : one / other,
                              (int64_t)(difference * difference) };
    for (int32_t k = 0; k < 5; ++k) {
      const int32_t low_bits = (int32_t)(uint32_t)(uint64_t)exact[k];
      const int64_t expected =
          k == 4 ? low_bits : oracle_clamp(low_bits, params.activation_min, params.activation_max);
      wrong += results[k][i] == expected ? 0 : 1;
    }
  }
  CHECK(wrong == 0, "arithmetic_s32", wrong);
  for (int32_t k = 0; k < 5; ++k) {
    free(results[k]);
  }
  free(a), free(b);
}

// The largest and the smallest of 64 bits, and their relations and those of truths.
static void pairs_s64(void) {
  const shapes s = random_shapes();
  const dmo_relation relation = (dmo_relation)random_between(DMO_EQUAL, DMO_LESS_EQUAL);
  const dmo_relation equality = (dmo_relation)random_between(DMO_EQUAL, DMO_NOT_EQUAL);
  const int32_t factor = random_between(0, 1) == 0 ? 1 : INT32_MAX;
  int64_t *a = random_s64(dmo_shape_size(&s.one), -3, 3, factor), *b = random_s64(dmo_shape_size(&s.other), -3, 3, factor);
  int64_t *high = random_s64(s.count, 0, 1, 1), *low = random_s64(s.count, 0, 1, 1);
  bool *p = (bool *)random_s8(dmo_shape_size(&s.one)), *q = (bool *)random_s8(dmo_shape_size(&s.other));
  bool *found = (bool *)random_s8(s.count), *alike = (bool *)random_s8(s.count);
  for (int32_t i = 0; i < dmo_shape_size(&s.one); ++i) {
    p[i] = a[i] > 0;
  }
  for (int32_t i = 0; i < dmo_shape_size(&s.other); ++i) {
    q[i] = b[i] > 0;
  }

  dmo_maximum_s64(&s.one, a, &s.other, b, &s.out, high);
  dmo_minimum_s64(&s.one, a, &s.other, b, &s.out, low);
  dmo_compare_s64(relation, &s.one, a, &s.other, b, &s.out, found);
  dmo_compare_bool(equality, &s.one, p, &s.other, q, &s.out, alike);
  int32_t i = 0;
  while (i < s.count) {
    const int64_t one = at_one(&s, i), other = at_other(&s, i);
    const bool is_other = a[one] < b[other];
    if (high[i] != (is_other ? b[other] : a[one]) || low[i] != (is_other ? a[one] : b[other]) ||
        found[i] != oracle_relation(relation, (double)a[one], (double)b[other]) ||
        alike[i] != ((p[one] == q[other]) == (equality == DMO_EQUAL))) {
      break;
    }
    ++i;
  }
  CHECK(i == s.count, "pairs_s64", i);
  free(a), free(b), free(high), free(low), free(p), free(q), free(found), free(alike);
}

static void arithmetic_f32(void) {
  const shapes s = random_shapes();
  const dmo_binary_f32_params params = { (float)random_between(-8, 0), (float)random_between(0, 8) };
  float *a = random_f32(dmo_shape_size(&s.one)), *b = random_f32(dmo_shape_size(&s.other));
  float *quotient = random_f32(s.count), *square = random_f32(s.count);
  for (int32_t i = 0; i < dmo_shape_size(&s.other); ++i) {
    b[i] += b[i] < 0.0f ? -1.0f : 1.0f;
  }

  dmo_broadcast_div_f32(&params, &s.one, a, &s.other, b, &s.out, quotient);
  dmo_squared_difference_f32(&s.one, a, &s.other, b, &s.out, square);
  int32_t i = 0;
  while (i < s.count) {
    const double one = (double)a[at_one(&s, i)], other = (double)b[at_other(&s, i)];
    const double exact = oracle_clamp_f64(one / other, (double)params.activation_min, (double)params.activation_max);
    if (quotient[i] != (float)exact || (double)square[i] != (one - other) * (one - other)) {
      break;
    }
    ++i;
  }
  CHECK(i == s.count, "quotient or squared difference", i);
  free(a), free(b), free(quotient), free(square);
}

// In eighths, so that quotients are exact in double precision as far as it matters.
static void floors(void) {
  const shapes s = random_shapes();
  float *a = random_f32(dmo_shape_size(&s.one)), *b = random_f32(dmo_shape_size(&s.other));
  float *quotient = random_f32(s.count), *rest = random_f32(s.count);
  for (int32_t i = 0; i < dmo_shape_size(&s.other); ++i) {
    b[i] = b[i] == 0.0f ? 0.125f : b[i];
  }

  dmo_floor_div_f32(&s.one, a, &s.other, b, &s.out, quotient);
  dmo_floor_mod_f32(&s.one, a, &s.other, b, &s.out, rest);
  int32_t i = 0;
  while (i < s.count) {
    const int64_t one = (int64_t)(a[at_one(&s, i)] * 8.0f), other = (int64_t)(b[at_other(&s, i)] * 8.0f);
    const int64_t down = other > 0 ? oracle_divide_down(one, other) : oracle_divide_down(-one, -other);
    if ((int64_t)quotient[i] != down || (int64_t)(rest[i] * 8.0f) != one - down * other) {
      break;
    }
    ++i;
  }
  CHECK(i == s.count, "floor_div or floor_mod", i);
  free(a), free(b), free(quotient), free(rest);
}

// Within half a step of the real quotient, but for what the rounding of the ratio adds.
static void quotients_s8(void) {
  const shapes s = random_shapes();
  const dmo_div_params params = { random_between(-128, 128), random_between(-128, 128), random_between(-128, 127),
                                  ratio(6, 9), random_between(-128, 0), random_between(0, 127) };
  int8_t *a = edgy_s8(dmo_shape_size(&s.one)), *b = edgy_s8(dmo_shape_size(&s.other)), *out = edgy_s8(s.count);
  const double step = (double)params.output.multiplier / 2147483648.0 * (double)(1 << params.output.shift);

  dmo_broadcast_div_s8(&params, &s.one, a, &s.other, b, &s.out, out);
  int32_t i = 0;
  while (i < s.count) {
    const int32_t divisor = b[at_other(&s, i)] + params.input2_offset;
    const double real = (double)(a[at_one(&s, i)] + params.input1_offset) / (divisor == 0 ? 1.0 : (double)divisor) * step;
    const double wanted = oracle_clamp_f64(real + (double)params.output_offset, (double)params.activation_min,
                                           (double)params.activation_max);
    const double error = (double)out[i] - wanted;
    if (error > 0.51 || error < -0.51) {
      break;
    }
    ++i;
  }
  CHECK(i == s.count, "quotient of 8 bit", i);
  free(a), free(b), free(out);
}

static dmo_add_params random_sum(int32_t offsets) {
  return (dmo_add_params){
    .input1_offset = random_between(-offsets, offsets),
    .input2_offset = random_between(-offsets, offsets),
    .output_offset = random_between(-offsets, offsets),
    .input1 = ratio(-8, 0),
    .input2 = ratio(-8, 0),
    .output = ratio(-24, 0),
    .activation_min = -100,
    .activation_max = 120,
  };
}

static int64_t oracle_square(const dmo_add_params *params, int64_t a, int64_t b) {
  const int64_t difference = requantized(&params->input1, a) - requantized(&params->input2, b);
  return oracle_clamp(requantized(&params->output, difference * difference) + params->output_offset, -100, 120);
}

static int64_t oracle_sum(const dmo_add_params *params, int64_t a, int64_t b, int64_t sign) {
  const int64_t sum = requantized(&params->input1, a * 32768) + sign * requantized(&params->input2, b * 32768);
  return oracle_clamp(requantized(&params->output, sum), -100, 120);
}

static void arithmetic_quantised(void) {
  const shapes s = random_shapes();
  const dmo_add_params narrow = random_sum(128);
  dmo_add_params wide = random_sum(0);
  // The scales of both inputs are at most half of the common one.
  wide.input1.shift = random_between(-8, -1), wide.input2.shift = random_between(-8, -1);
  const dmo_mul_params mul = { .output = ratio(-20, 0), .activation_min = -100, .activation_max = 120 };
  int8_t *a8 = edgy_s8(dmo_shape_size(&s.one)), *b8 = edgy_s8(dmo_shape_size(&s.other)), *square8 = edgy_s8(s.count);
  int16_t *a16 = edgy_s16(dmo_shape_size(&s.one)), *b16 = edgy_s16(dmo_shape_size(&s.other));
  int16_t *square16 = edgy_s16(s.count), *sum = edgy_s16(s.count), *difference = edgy_s16(s.count);
  int16_t *product = edgy_s16(s.count);
  dmo_add_params squared = narrow;
  squared.input1.shift = squared.input2.shift = -1;

  dmo_squared_difference_s8(&squared, &s.one, a8, &s.other, b8, &s.out, square8);
  dmo_squared_difference_s16(&wide, &s.one, a16, &s.other, b16, &s.out, square16);
  dmo_broadcast_add_s16(&wide, &s.one, a16, &s.other, b16, &s.out, sum);
  dmo_broadcast_sub_s16(&wide, &s.one, a16, &s.other, b16, &s.out, difference);
  dmo_broadcast_mul_s16(&mul, &s.one, a16, &s.other, b16, &s.out, product);
  int32_t i = 0;
  while (i < s.count) {
    const int64_t one = at_one(&s, i), other = at_other(&s, i);
    const int64_t fine1 = (a8[one] + narrow.input1_offset) * 128, fine2 = (b8[other] + narrow.input2_offset) * 128;
    const int64_t both = (int64_t)a16[one] * b16[other];
    if (square8[i] != oracle_square(&squared, fine1, fine2) ||
        square16[i] != oracle_square(&wide, a16[one], b16[other]) ||
        sum[i] != oracle_sum(&wide, a16[one], b16[other], 1) ||
        difference[i] != oracle_sum(&wide, a16[one], b16[other], -1) ||
        product[i] != oracle_clamp(requantized(&mul.output, both), -100, 120)) {
      break;
    }
    ++i;
  }
  CHECK(i == s.count, "quantised arithmetic", i);
  free(a8), free(b8), free(square8), free(a16), free(b16), free(square16), free(sum), free(difference), free(product);
}

static void comparisons(void) {
  const shapes s = random_shapes();
  const dmo_relation relation = (dmo_relation)random_between(DMO_EQUAL, DMO_LESS_EQUAL);
  dmo_compare_params params = { (int32_t)relation, random_between(-128, 128), random_between(-128, 128), ratio(-10, 0),
                                ratio(-10, 0) };
  if (random_between(0, 1) == 0) {
    params.input2 = params.input1, params.input2_offset = params.input1_offset;
  }
  const int32_t one_count = dmo_shape_size(&s.one), other_count = dmo_shape_size(&s.other);
  int8_t *a8 = edgy_s8(one_count), *b8 = edgy_s8(other_count);
  int32_t *a32 = random_s32(one_count, -3, 3), *b32 = random_s32(other_count, -3, 3);
  float *a = random_f32(one_count), *b = random_f32(other_count);
  bool *found8 = (bool *)random_s8(s.count), *found32 = (bool *)random_s8(s.count), *found = (bool *)random_s8(s.count);

  dmo_compare_s8(&params, &s.one, a8, &s.other, b8, &s.out, found8);
  dmo_compare_s32(relation, &s.one, a32, &s.other, b32, &s.out, found32);
  dmo_compare_f32(relation, &s.one, a, &s.other, b, &s.out, found);
  int32_t i = 0;
  while (i < s.count) {
    const int64_t one = at_one(&s, i), other = at_other(&s, i);
    const int64_t scaled1 = requantized(&params.input1, (a8[one] + params.input1_offset) * 256);
    const int64_t scaled2 = requantized(&params.input2, (b8[other] + params.input2_offset) * 256);
    if (found8[i] != oracle_relation(relation, (double)scaled1, (double)scaled2) ||
        found32[i] != oracle_relation(relation, (double)a32[one], (double)b32[other]) ||
        found[i] != oracle_relation(relation, (double)a[one], (double)b[other])) {
      break;
    }
    ++i;
  }
  CHECK(i == s.count, "comparison", (int32_t)relation);
  free(a8), free(b8), free(a32), free(b32), free(a), free(b), free(found8), free(found32), free(found);
}

static bool *random_truths(int32_t count) {
  bool *truths = (bool *)random_s8(count);
  for (int32_t i = 0; i < count; ++i) {
    truths[i] = random_between(0, 1) == 1;
  }
  return truths;
}

static void choices(void) {
  const shapes s = random_shapes();
  const int32_t bytes = 1 << random_between(0, 3);
  bool *p = random_truths(dmo_shape_size(&s.one)), *q = random_truths(dmo_shape_size(&s.other));
  bool *both = random_truths(s.count), *any = random_truths(s.count), *condition = random_truths(s.count);
  int8_t *a = random_s8(dmo_shape_size(&s.one) * bytes), *b = random_s8(dmo_shape_size(&s.other) * bytes);
  int8_t *chosen = random_s8(s.count * bytes);

  dmo_logical_and(&s.one, p, &s.other, q, &s.out, both);
  dmo_logical_or(&s.one, p, &s.other, q, &s.out, any);
  dmo_select(bytes, &s.out, condition, &s.one, a, &s.other, b, &s.out, chosen);
  int32_t i = 0;
  while (i < s.count) {
    const int64_t one = at_one(&s, i), other = at_other(&s, i);
    bool same = both[i] == (p[one] & q[other]) && any[i] == (p[one] | q[other]);
    for (int32_t byte = 0; byte < bytes; ++byte) {
      same = same && chosen[i * bytes + byte] == (condition[i] ? a[one * bytes + byte] : b[other * bytes + byte]);
    }
    if (!same) {
      break;
    }
    ++i;
  }
  CHECK(i == s.count, "logical or select", i);
  free(p), free(q), free(both), free(any), free(condition), free(a), free(b), free(chosen);
}

static void add_n(void) {
  const int32_t inputs = random_between(2, MAX_INPUTS), count = random_between(1, 40);
  const dmo_add_n_params params = { random_between(-128, 128), random_between(-128, 127), ratio(-24, -17) };
  const int8_t *in8[MAX_INPUTS];
  const float *in[MAX_INPUTS];
  int8_t *own8[MAX_INPUTS], *out8 = edgy_s8(count);
  float *own[MAX_INPUTS], *out = random_f32(count);
  for (int32_t j = 0; j < inputs; ++j) {
    in8[j] = own8[j] = edgy_s8(count);
    in[j] = own[j] = random_f32(count);
  }

  dmo_add_n_s8(&params, inputs, count, in8, out8);
  dmo_add_n_f32(inputs, count, in, out);
  int32_t i = 0;
  while (i < count) {
    int64_t sum = params.input_offset;
    double real = 0.0;
    for (int32_t j = 0; j < inputs; ++j) {
      sum += in8[j][i] + params.input_offset, real += (double)in[j][i];
    }
    const int64_t exact = requantized(&params.output, sum * (1 << 19)) + params.output_offset;
    if (out8[i] != oracle_clamp(exact, -128, 127) || (double)out[i] != real) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "add_n", i);
  for (int32_t j = 0; j < inputs; ++j) {
    free(own8[j]), free(own[j]);
  }
  free(out8), free(out);
}

void test_pairs(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    prelu();
    extremes();
    arithmetic_s32();
    pairs_s64();
    arithmetic_f32();
    floors();
    quotients_s8();
    arithmetic_quantised();
    comparisons();
    choices();
    add_n();
  }
}
