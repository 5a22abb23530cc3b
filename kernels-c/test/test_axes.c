// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Operators along an axis, normalised rows, and reductions by tables of loops.
#include "check.h"
#include "../reference/dmo_logarithm.h"
#include "../reference/dmo_sigmoid_table.h"
#include "dmo_along_axis.h"
#include "oracle_operators.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 1500 };

static dmo_axis_size random_size(void) {
  return (dmo_axis_size){ random_between(1, 4), random_between(1, 6), random_between(1, 5) };
}

static int32_t count_of(const dmo_axis_size *size) {
  return size->before * size->extent * size->after;
}

// Where the element at a step along the axis lies that is the output's index-th column.
static int32_t element(const dmo_axis_size *size, int32_t index, int32_t step) {
  return (index / size->after * size->extent + step) * size->after + index % size->after;
}

static void arg_extremes(void) {
  const dmo_axis_size size = random_size();
  const int32_t greatest = random_between(0, 1), count = size.before * size.after;
  int8_t *input8 = edgy_s8(count_of(&size));
  float *input = random_f32(count_of(&size));
  int32_t *found8 = random_s32(count, -1, -1), *found = random_s32(count, -1, -1);
  for (int32_t i = 0; i < count_of(&size); ++i) {
    input[i] = random_between(0, 9) == 0 ? NAN : floorf(input[i]);
  }

  dmo_arg_extreme_s8(&size, greatest, input8, found8);
  dmo_arg_extreme_f32(&size, greatest, input, found);
  const double sign = greatest != 0 ? 1.0 : -1.0;
  int32_t i = 0;
  while (i < count) {
    // Backwards, so that the first of equal ones is the last to be taken.
    int32_t index8 = size.extent - 1, index = 0;
    double best = -1e9;
    for (int32_t step = size.extent - 1; step >= 0; --step) {
      const int32_t at = element(&size, i, step);
      index8 = input8[at] * sign >= input8[element(&size, i, index8)] * sign ? step : index8;
      if (!isnan(input[at]) && sign * (double)input[at] >= best) {
        index = step, best = sign * (double)input[at];
      }
    }
    // No comparison with NaN holds.
    index = isnan(input[element(&size, i, 0)]) ? 0 : index;
    if (found8[i] != index8 || found[i] != index) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "arg_extreme", i);
  free(input8), free(input), free(found8), free(found);
}

static void cumulative_sums(void) {
  const dmo_cumulative_sum_params params = { random_size(), random_between(0, 1), random_between(0, 1) };
  const dmo_cumulative_sum_quant quant = { random_between(-128, 128), random_between(-128, 127),
                                           { random_between(1 << 30, INT32_MAX), random_between(-24, -17) } };
  const int32_t columns = params.size.before * params.size.after, count = count_of(&params.size);
  int8_t *input8 = edgy_s8(count), *output8 = edgy_s8(count);
  float *input = random_f32(count), *output = random_f32(count);

  dmo_cumulative_sum_s8(&params, &quant, input8, output8);
  dmo_cumulative_sum_f32(&params, input, output);
  bool same = true;
  for (int32_t i = 0; i < columns; ++i) {
    for (int32_t step = 0; step < params.size.extent; ++step) {
      int64_t sum8 = quant.input_offset;
      double sum = 0.0;
      for (int32_t other = 0; other < params.size.extent; ++other) {
        const bool counts = params.reverse != 0 ? other > step : other < step;
        if (counts || (other == step && params.exclusive == 0)) {
          sum8 += input8[element(&params.size, i, other)] + quant.input_offset;
          sum += (double)input[element(&params.size, i, other)];
        }
      }
      const int32_t at = element(&params.size, i, step);
      const int64_t scaled = oracle_requantize(sum8 * (1 << 19), quant.output.multiplier, quant.output.shift);
      same = same && output8[at] == oracle_clamp(scaled + quant.output_offset, -128, 127) && (double)output[at] == sum;
    }
  }
  CHECK(same, "cumulative_sum", params.reverse);
  free(input8), free(output8), free(input), free(output);
}

static void l2_normalisation(void) {
  const int32_t rows = random_between(1, 3), depth = random_between(1, 12), offset = random_between(-128, 128);
  int8_t *input8 = edgy_s8(rows * depth), *output8 = edgy_s8(rows * depth);
  float *input = random_f32(rows * depth), *output = random_f32(rows * depth);

  dmo_l2_normalisation_s8(offset, rows, depth, input8, output8);
  dmo_l2_normalisation_f32(rows, depth, input, output);
  int32_t i = 0;
  while (i < rows * depth) {
    double squares8 = 0.0, squares = 0.0;
    for (int32_t c = 0; c < depth; ++c) {
      const int32_t at = i / depth * depth + c;
      squares8 += pow(input8[at] + offset, 2.0), squares += (double)(input[at] * input[at]);
    }
    const double exact8 = 128.0 * (input8[i] + offset) / sqrt(fmax(squares8, 1.0));
    const double exact = (double)input[i] / fmax(sqrt(squares), 1e-6);
    if (fabs(output8[i] - oracle_clamp_f64(exact8, -128.0, 127.0)) > 0.55 || fabs((double)output[i] - exact) > 1e-6) {
      break;
    }
    ++i;
  }
  CHECK(i == rows * depth, "l2_normalisation", i);
  free(input8), free(output8), free(input), free(output);
}

static dmo_quant_per_tensor quant_of(double ratio) {
  int shift;
  const double fraction = frexp(ratio, &shift);
  return (dmo_quant_per_tensor){ (int32_t)fmin(round(fraction * 2147483648.0), 2147483647.0), shift };
}

static void log_softmax(void) {
  const int32_t rows = random_between(1, 3), depth = random_between(1, 12);
  const double scale = exp2((double)random_between(-600, -50) / 100.0);
  dmo_log_softmax_params params = { .softmax = { .input_beta = quant_of(scale * 67108864.0) } };
  params.softmax.diff_min = -(int32_t)floor(31.0 * 67108864.0 / exp2((double)params.softmax.input_beta.shift));
  params.inverse = quant_of(1.0 / (scale * 67108864.0));
  int8_t *input8 = edgy_s8(rows * depth), *output8 = edgy_s8(rows * depth);
  float *input = random_f32(rows * depth), *output = random_f32(rows * depth);

  dmo_log_softmax_s8(&params, rows, depth, input8, output8);
  dmo_log_softmax_f32(rows, depth, input, output);
  int32_t i = 0;
  while (i < rows * depth) {
    double sum8 = 0.0, sum = 0.0;
    for (int32_t c = 0; c < depth; ++c) {
      const int32_t at = i / depth * depth + c;
      sum8 += exp(scale * (double)(input8[at] - input8[i])), sum += exp((double)(input[at] - input[i]));
    }
    const double exact8 = fmax(-16.0 * log(sum8) + 127.0, -128.0);
    // Beyond diff_min all is the least there is, which may begin a little above the output's range.
    const bool is_cut = output8[i] == -128 && exact8 < -112.0;
    if ((fabs((double)output8[i] - exact8) > 0.55 && !is_cut) || fabs((double)output[i] + log(sum)) > 1e-5) {
      break;
    }
    ++i;
  }
  CHECK(i == rows * depth, "log_softmax", i);
  free(input8), free(output8), free(input), free(output);
}

static void logarithm(void) {
  const int32_t x = random_between(1 << 19, INT32_MAX) >> random_between(0, 11);
  const int32_t at_least_one = x < 1 << 19 ? 1 << 19 : x;
  const double exact = log((double)at_least_one / 524288.0) * 67108864.0;
  CHECK(fabs((double)dmo_log_q12(at_least_one) - exact) < 200.0, "logarithm", at_least_one);
}

static void sigmoids_s16(void) {
  uint16_t table[DMO_SIGMOID_TABLE_SIZE];
  for (int32_t i = 0; i < DMO_SIGMOID_TABLE_SIZE; ++i) {
    table[i] = (uint16_t)fmin(round(65536.0 / (1.0 + exp(-(double)i / 24.0))), 65535.0);
  }
  const int32_t shift = random_between(0, 10);
  const dmo_sigmoid_s16_params params = { random_between(1, 32767), shift };
  const double scale = (double)params.multiplier / exp2((double)shift) / 12288.0;
  int16_t *input = edgy_s16(64), *logistic = edgy_s16(64), *tangent = edgy_s16(64);

  dmo_logistic_s16(&params, table, 64, input, logistic);
  dmo_tanh_s16(&params, table, 64, input, tangent);
  int32_t i = 0;
  while (i < 64) {
    // The step of the argument, the table's rounding, and its interpolation.
    const double x = scale * (double)input[i], off = 12.0;
    if (fabs((double)logistic[i] - 32768.0 * oracle_logistic(x)) > off ||
        fabs((double)tangent[i] - 32768.0 * tanh(x)) > off) {
      break;
    }
    ++i;
  }
  CHECK(i == 64, "logistic_s16 or tanh_s16", i);
  free(input), free(logistic), free(tangent);
}

static void reductions(void) {
  const dmo_shape in = random_shape(3, 4, 4, 5);
  const dmo_shape out = { random_between(0, 1) == 0 ? 1 : in.n, random_between(0, 1) == 0 ? 1 : in.h,
                          random_between(0, 1) == 0 ? 1 : in.w, random_between(0, 1) == 0 ? 1 : in.c };
  const int32_t count = dmo_shape_size(&out);
  const dmo_mean_params params = { random_between(-32768, 32767), random_between(-32768, 32767),
                                   { random_between(1 << 30, INT32_MAX), random_between(-10, 0) } };
  int8_t *input8 = edgy_s8(dmo_shape_size(&in)), *high = edgy_s8(count), *low = edgy_s8(count);
  int16_t *input16 = edgy_s16(dmo_shape_size(&in)), *sum = edgy_s16(count);
  int32_t *scratch = random_s32(dmo_sum_s16_scratch_bytes(&out) / 4, INT32_MIN, INT32_MAX);

  dmo_reduce_max_s8(&in, input8, &out, high);
  dmo_reduce_min_s8(&in, input8, &out, low);
  dmo_sum_s16(&params, &in, input16, &out, sum, scratch);
  int32_t i = 0;
  while (i < count) {
    int64_t greatest = -128, least = 127, total = 0;
    for (int32_t j = dmo_shape_size(&in) - 1; j >= 0; --j) {
      if (oracle_reduces_to(&in, j, &out, i)) {
        greatest = oracle_clamp(greatest, input8[j], 127), least = oracle_clamp(least, -128, input8[j]);
        total += input16[j] - params.input_zero_point;
      }
    }
    const int64_t scaled = oracle_requantize(total, params.output.multiplier, params.output.shift);
    if (high[i] != greatest || low[i] != least ||
        sum[i] != oracle_clamp(scaled + params.output_zero_point, -32768, 32767)) {
      break;
    }
    ++i;
  }
  CHECK(i == count, "reduce_max_s8, reduce_min_s8 or sum_s16", i);
  free(input8), free(high), free(low), free(input16), free(sum), free(scratch);
}

void test_axes(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    arg_extremes();
    cumulative_sums();
    l2_normalisation();
    log_softmax();
    logarithm();
    sigmoids_s16();
    reductions();
  }
}
