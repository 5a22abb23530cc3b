// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_operators.h"

#include <stdlib.h>

enum { CASES = 1500 };

// Calls the kernel often enough that the state holds nothing but the inputs of the last `memory` calls, and then checks
// each output against those.
static void svdf(int32_t state_bits) {
  const int32_t rank = random_between(1, 3), units = random_between(1, 4);
  const dmo_svdf_size size = { random_between(1, 3), random_between(1, 8), rank * units, rank, random_between(1, 6) };
  const dmo_svdf_params params = {
    .input_offset = random_between(-127, 128),
    .state_zero_point = state_bits == 16 ? 0 : random_between(-128, 127),
    .output_offset = random_between(-128, 127),
    .feature = { random_between(1 << 30, INT32_MAX), random_between(-5, 0) - (state_bits == 16 ? 0 : 6) },
    .time = { random_between(1 << 30, INT32_MAX), random_between(-7, 0) - (state_bits == 16 ? 15 : 4) },
  };
  const int32_t calls = size.memory + 3, call_size = size.batches * size.inputs;
  const int32_t state_size = size.batches * size.filters * size.memory, outputs = size.batches * units;
  int8_t *input = edgy_s8(calls * call_size), *features = edgy_s8(size.filters * size.inputs);
  int8_t *output = edgy_s8(outputs);
  int16_t *times = edgy_s16(size.filters * size.memory), *state_s16 = edgy_s16(state_size);
  int8_t *times_s8 = edgy_s8(size.filters * size.memory), *state_s8 = edgy_s8(state_size);
  int32_t *bias = random_between(0, 3) == 0 ? NULL : random_s32(units, -5000, 5000);
  int32_t *scratch = random_s32(dmo_svdf_s8_scratch_bytes(&size) / 4, INT32_MIN, INT32_MAX);
  for (int32_t i = 0; i < size.filters * size.memory; ++i) {
    if (state_bits == 16) {
      times[i] /= 8; // so that the sums fit 32 bits
    } else {
      times[i] = times_s8[i];
    }
  }

  for (int32_t call = 0; call < calls; ++call) {
    const int8_t *now = &input[call * call_size];
    if (state_bits == 16) {
      dmo_svdf_s8_state_s16(&params, &size, now, features, times, bias, state_s16, output, scratch);
    } else {
      dmo_svdf_s8_state_s8(&params, &size, now, features, times_s8, bias, state_s8, output, scratch);
    }
    if (call + 1 < size.memory) {
      continue;
    }
    const int8_t *history = &input[(call + 1 - size.memory) * call_size];
    int32_t i = 0;
    while (i < outputs &&
           output[i] == oracle_svdf(&params, &size, state_bits, history, features, times, bias, i)) {
      ++i;
    }
    CHECK(i == outputs, state_bits == 16 ? "svdf_s8_state_s16" : "svdf_s8_state_s8", i);
  }
  free(input), free(features), free(output), free(times), free(state_s16), free(times_s8), free(state_s8);
  free(bias), free(scratch);
}

// Weights and inputs in eighths, so that sums are exact in whatever order.
static void svdf_f32(void) {
  const int32_t rank = random_between(1, 3), units = random_between(1, 4);
  const dmo_svdf_size size = { random_between(1, 3), random_between(1, 5), rank * units, rank, random_between(1, 4) };
  const dmo_svdf_f32_params params = { (float)random_between(-40, 0), (float)random_between(1, 60) };
  const int32_t calls = size.memory + 2, call_size = size.batches * size.inputs, outputs = size.batches * units;
  float *input = random_f32(calls * call_size), *features = random_f32(size.filters * size.inputs);
  float *times = random_f32(size.filters * size.memory), *bias = random_between(0, 3) == 0 ? NULL : random_f32(units);
  float *state = random_f32(size.batches * size.filters * size.memory), *output = random_f32(outputs);
  float *scratch = random_f32(dmo_svdf_f32_scratch_bytes(&size) / 4);

  for (int32_t call = 0; call < calls; ++call) {
    dmo_svdf_f32(&params, &size, &input[call * call_size], features, times, bias, state, output, scratch);
  }
  const float *history = &input[(calls - size.memory) * call_size];
  int32_t i = 0;
  while (i < outputs) {
    const double exact = oracle_svdf_f32(&size, history, features, times, bias, i);
    if ((double)output[i] != oracle_clamp_f64(exact, (double)params.activation_min, (double)params.activation_max)) {
      break;
    }
    ++i;
  }
  CHECK(i == outputs, "svdf_f32", i);
  free(input), free(features), free(times), free(bias), free(state), free(output), free(scratch);
}

void test_svdf(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    svdf(16);
    svdf(8);
    svdf_f32();
  }
}
