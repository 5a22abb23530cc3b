// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The long short-term memories of dsp/ and plain/ and their activations, on random small cases.
//
// What is expected is a model of the interface's formulas, made of the oracle's pieces. Where no product exceeds 16
// bits that is the operator itself, and the oracle of the whole operator is asked as well.
#include "dsp_cases.h"
#include "dmo_int16.h"
#include "dsp_lstm.h"
#include "dsp_sigmoid.h"
#include "oracle.h"
#include "oracle_operators.h"

#include <math.h>

#ifndef CASES
#define CASES 2000
#endif

enum { MOST = 40, MOST_BATCHES = 3 };

static uint16_t table[DMO_SIGMOID_TABLE_SIZE];
static uint32_t saturated_cases;

static void make_table(void) {
  what = "dsp_sigmoid_table";
  for (int32_t i = 0; i < DMO_SIGMOID_TABLE_SIZE; ++i) {
    const double s = 1.0 / (1.0 + exp(-(double)i / 24.0));
    table[i] = i == 255 ? 65535 : (uint16_t)round(65536.0 * (s + s * (1.0 - s) * (2.0 * s - 1.0) / 9216.0));
    if (table[i] != dsp_sigmoid_table[i]) {
      fail("wrong at", (uint32_t)i);
    }
  }
}

// A layer of either width, with room for the largest.
typedef struct {
  int32_t bytes; // of an activation
  dmo_lstm_size size;
  dmo_lstm_params reference;
  cmsis_nn_lstm_params params;
  const int8_t *input_weights[DMO_LSTM_GATES], *hidden_weights[DMO_LSTM_GATES];
  int64_t *bias[DMO_LSTM_GATES]; // or NULL
  int32_t *bias32[DMO_LSTM_GATES];
  arm_nn_activation_type activation[DMO_LSTM_GATES];
  bool is_standard; // the activations are those of the operator
} layer;

// A dense vector of either width.
static int32_t at(const layer *l, const void *values, int32_t index) {
  if (l->bytes == 1) {
    return ((const int8_t *)values)[index];
  }
  return ((const int16_t *)values)[index];
}

// Bytes at an odd address, as far as the elements allow it.
static void *elements(int32_t bytes, int32_t count) {
  if (bytes == 1) {
    const int32_t skipped = between(0, 3);
    return values(count + skipped) + skipped;
  }
  const int32_t skipped = 2 * between(0, 1);
  return values(2 * count + skipped) + skipped;
}

static dmo_quant_per_tensor random_scale(int32_t least_shift, int32_t greatest_shift) {
  const int32_t multiplier = one_in(8) ? 1 << 30 : one_in(12) ? INT32_MAX : between(1 << 30, INT32_MAX);
  return (dmo_quant_per_tensor){ one_in(40) ? between(0, 1 << 30) : multiplier, between(least_shift, greatest_shift) };
}

// Of products that are small, or usual, or, if is_any, of any size that fits.
static dmo_quant_per_tensor random_gate_scale(int32_t bytes, bool is_small, bool is_any) {
  if (is_small) {
    return bytes == 1 ? random_scale(-12, -8) : random_scale(-20, -17);
  }
  if (is_any) {
    return bytes == 1 ? random_scale(-31, 3) : random_scale(-31, 2);
  }
  return bytes == 1 ? random_scale(-6, -1) : random_scale(-14, -8);
}

static int64_t random_bias(int32_t bytes, bool is_large) {
  if (is_large && bytes == 1) {
    // Around the largest sums of the fast ways.
    const int32_t size = one_in(2) ? between((1 << 30) - (1 << 21), (1 << 30) + (1 << 21))
                                   : between(INT32_MAX - (1 << 22), INT32_MAX - (3 << 19));
    return one_in(2) ? size : -size;
  }
  if (is_large) {
    return (one_in(2) ? 1 : -1) * ((INT64_C(1) << 31) + between(-(1 << 28), 1 << 28));
  }
  return bytes == 1 ? between(-20000, 20000) : between(-(1 << 26), 1 << 26);
}

static dmo_quant_per_tensor cell_scale(int32_t shift, bool is_wild) {
  if (is_wild) {
    return random_scale(shift - 2, 0);
  }
  return (dmo_quant_per_tensor){ one_in(2) ? 1 << 30 : between(1 << 30, INT32_MAX), shift };
}

static layer random_layer(int32_t bytes) {
  const bool is_wild = one_in(6), is_small = one_in(3), is_long = one_in(25);
  layer l = {
    .bytes = bytes,
    .size = { between(1, MOST_BATCHES), between(1, 4), between(1, MOST), one_in(8) ? between(1, 4) : between(1, MOST),
              between(0, 1) },
    .is_standard = !one_in(8),
  };
  if (is_long) {
    // More products than fit in 32 bits.
    l.size.inputs = between(500, 1100);
    l.size.units = between(1, 6);
  }
  const bool has_zero_points = bytes == 1 || one_in(2);
  l.reference = (dmo_lstm_params){
    .input_offset = has_zero_points ? between(-127, 128) : 0,
    .hidden_zero_point = has_zero_points ? between(-128, 127) : 0,
    .forget_cell = cell_scale(-14, is_wild),
    .input_cell = cell_scale(between(-22, -14), is_wild),
    .output_cell = cell_scale(bytes == 1 ? between(-24, -21) : between(-16, -13), is_wild),
    .cell_scale_power = one_in(2) ? between(-15, 0) : between(-12, -9),
    .cell_clip = one_in(2) ? 0 : between(1, INT16_MAX),
  };
  for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
    const bool has_large = one_in(12) && !is_long;
    l.reference.gates[g].input = random_gate_scale(bytes, is_small, one_in(10) && !is_long);
    l.reference.gates[g].recurrent = random_gate_scale(bytes, is_small, one_in(10));
    if (has_large) {
      // A result still fits in 32 bits, and a sum in what has a scale.
      l.reference.gates[g].input.shift = between(-20, -2);
    }
    l.input_weights[g] = elements(1, l.size.units * l.size.inputs);
    l.hidden_weights[g] = elements(1, l.size.units * l.size.units);
    l.activation[g] = (g == DMO_LSTM_CELL_GATE) != (!l.is_standard && one_in(2)) ? ARM_TANH : ARM_SIGMOID;
    if (!one_in(4)) {
      l.bias[g] = allocate(8 * l.size.units);
      l.bias32[g] = allocate(4 * l.size.units);
      for (int32_t u = 0; u < l.size.units; ++u) {
        l.bias[g][u] = random_bias(bytes, has_large);
        l.bias32[g][u] = bytes == 1 ? (int32_t)l.bias[g][u] : 0;
      }
    }
  }
  for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
    l.is_standard = l.is_standard && l.activation[g] == (g == DMO_LSTM_CELL_GATE ? ARM_TANH : ARM_SIGMOID);
  }
  return l;
}

// A bias and the offset times each row's weights, in the width of the layer.
static const void *effective_bias(const layer *l, const int64_t *bias, const int8_t *weights, int32_t columns,
                                  int32_t offset) {
  int32_t *const narrow = allocate((l->bytes == 1 ? 4 : 8) * l->size.units);
  for (int32_t u = 0; u < l->size.units; ++u) {
    int64_t sum = bias == NULL ? 0 : bias[u];
    for (int32_t i = 0; i < columns; ++i) {
      sum += offset * weights[u * columns + i];
    }
    if (l->bytes == 1) {
      narrow[u] = (int32_t)sum;
    } else {
      memcpy(&narrow[2 * u], &sum, sizeof sum);
    }
  }
  return narrow;
}

// uses_hidden: else what belongs to the second product is not there.
static cmsis_nn_lstm_gate make_gate(const layer *l, int32_t g, bool uses_hidden) {
  const dmo_lstm_gate_quant *const quant = &l->reference.gates[g];
  return (cmsis_nn_lstm_gate){
    .input_multiplier = quant->input.multiplier,
    .input_shift = quant->input.shift,
    .input_weights = l->input_weights[g],
    .input_effective_bias = effective_bias(l, l->bias[g], l->input_weights[g], l->size.inputs,
                                           l->reference.input_offset),
    .hidden_multiplier = quant->recurrent.multiplier,
    .hidden_shift = quant->recurrent.shift,
    .hidden_weights = uses_hidden ? l->hidden_weights[g] : NULL,
    .hidden_effective_bias = uses_hidden ? effective_bias(l, NULL, l->hidden_weights[g], l->size.units,
                                                          -l->reference.hidden_zero_point) : NULL,
    .activation_type = l->activation[g],
  };
}

static void make_params(layer *l, bool uses_hidden) {
  const dmo_lstm_params *const reference = &l->reference;
  l->params = (cmsis_nn_lstm_params){
    .time_major = l->size.time_major,
    .batch_size = l->size.batches,
    .time_steps = l->size.steps,
    .input_size = l->size.inputs,
    .hidden_size = l->size.units,
    .input_offset = reference->input_offset,
    .forget_to_cell_multiplier = reference->forget_cell.multiplier,
    .forget_to_cell_shift = reference->forget_cell.shift,
    .input_to_cell_multiplier = reference->input_cell.multiplier,
    .input_to_cell_shift = reference->input_cell.shift,
    .cell_clip = reference->cell_clip,
    .cell_scale_power = reference->cell_scale_power,
    .output_multiplier = reference->output_cell.multiplier,
    .output_shift = reference->output_cell.shift,
    .output_offset = reference->hidden_zero_point,
    .forget_gate = make_gate(l, DMO_LSTM_FORGET_GATE, uses_hidden),
    .input_gate = make_gate(l, DMO_LSTM_INPUT_GATE, uses_hidden),
    .cell_gate = make_gate(l, DMO_LSTM_CELL_GATE, uses_hidden),
    .output_gate = make_gate(l, DMO_LSTM_OUTPUT_GATE, uses_hidden),
  };
}

static int64_t to_half(int64_t value) {
  return oracle_clamp(value, INT16_MIN, INT16_MAX);
}

static int64_t quotient(const layer *l, int64_t sum, dmo_quant_per_tensor scale) {
  return l->bytes == 1 ? oracle_requantize(sum, scale.multiplier, scale.shift)
                       : oracle_requantize_wide(sum, scale.multiplier, scale.shift);
}

// Where a batch's vector of `width` elements of step t begins.
static int32_t offset_of(const dmo_lstm_size *size, int32_t batch, int32_t t, int32_t width) {
  return (size->time_major != 0 ? t * size->batches + batch : batch * size->steps + t) * width;
}

// What the layer has come to.
typedef struct {
  int32_t hidden[MOST_BATCHES * MOST];
  int16_t cell[MOST_BATCHES * MOST];
  bool exceeds; // a product exceeded 16 bits
} progress;

static int64_t gate_of(const layer *l, int32_t g, const void *input, int32_t input_at, const int32_t *hidden,
                       int32_t unit, bool *exceeds) {
  const dmo_lstm_gate_quant *const quant = &l->reference.gates[g];
  int64_t from_input = l->bias[g] == NULL ? 0 : l->bias[g][unit], from_hidden = 0;
  for (int32_t i = 0; i < l->size.inputs; ++i) {
    from_input += (int64_t)(at(l, input, input_at + i) + l->reference.input_offset) *
                  l->input_weights[g][unit * l->size.inputs + i];
  }
  for (int32_t v = 0; v < l->size.units; ++v) {
    from_hidden += (int64_t)(hidden[v] - l->reference.hidden_zero_point) *
                   l->hidden_weights[g][unit * l->size.units + v];
  }
  const int64_t second = quotient(l, from_hidden, quant->recurrent);
  *exceeds = *exceeds || second != to_half(second);
  const int64_t argument = to_half(to_half(quotient(l, from_input, quant->input)) + second);
  return l->activation[g] == ARM_SIGMOID ? oracle_lstm_sigmoid(table, argument)
                                         : oracle_lstm_tanh(table, argument, -12);
}

// The hidden state of a unit after a step; its cell state is changed.
static int32_t unit_of(const layer *l, const int64_t *gates, int16_t *cell, bool *exceeds) {
  const dmo_lstm_params *const p = &l->reference;
  const int64_t kept = to_half(oracle_requantize(gates[DMO_LSTM_FORGET_GATE] * *cell, p->forget_cell.multiplier,
                                                 p->forget_cell.shift));
  const int64_t added = oracle_requantize(gates[DMO_LSTM_INPUT_GATE] * gates[DMO_LSTM_CELL_GATE],
                                          p->input_cell.multiplier, p->input_cell.shift);
  *exceeds = *exceeds || added != to_half(added);
  const int64_t clip = p->cell_clip > 0 ? p->cell_clip : INT16_MAX;
  *cell = (int16_t)oracle_clamp(kept + added, p->cell_clip > 0 ? -clip : INT16_MIN, clip);
  const int64_t activated = oracle_lstm_tanh(table, *cell, p->cell_scale_power);
  const int64_t product = oracle_requantize(gates[DMO_LSTM_OUTPUT_GATE] * activated, p->output_cell.multiplier,
                                            p->output_cell.shift);
  const int64_t limit = l->bytes == 1 ? 128 : 32768;
  return (int32_t)oracle_clamp(product + p->hidden_zero_point, -limit, limit - 1);
}

// What the oracle says of a unit.
static oracle_lstm_unit oracle_unit(const layer *l, const void *input, int32_t input_at, const int32_t *hidden,
                                    int16_t cell, int32_t unit) {
  int8_t hidden8[MOST];
  int16_t hidden16[MOST];
  dmo_lstm_weights weights[DMO_LSTM_GATES];
  dmo_lstm_weights_s16 wide[DMO_LSTM_GATES];
  for (int32_t v = 0; v < l->size.units; ++v) {
    hidden8[v] = (int8_t)hidden[v];
    hidden16[v] = (int16_t)hidden[v];
  }
  for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
    weights[g] = (dmo_lstm_weights){ l->input_weights[g], l->hidden_weights[g], l->bias32[g] };
    wide[g] = (dmo_lstm_weights_s16){ l->input_weights[g], l->hidden_weights[g], l->bias[g] };
  }
  if (l->bytes == 1) {
    return oracle_lstm(&l->reference, &l->size, (const int8_t *)input + input_at, weights, table, hidden8, cell, unit);
  }
  return oracle_lstm_s16(&l->reference, &l->size, (const int16_t *)input + input_at, wide, table, hidden16, cell, unit);
}

// All that is expected of a batch; its outputs are those of all the layer.
static void expect_batch(const layer *l, int32_t b, const void *input, progress *p, int32_t *output) {
  const int32_t units = l->size.units;
  int32_t *const hidden = &p->hidden[b * units];
  int16_t *const cell = &p->cell[b * units];
  for (int32_t t = 0; t < l->size.steps; ++t) {
    const int32_t from = offset_of(&l->size, b, t, l->size.inputs), to = offset_of(&l->size, b, t, units);
    for (int32_t u = 0; u < units; ++u) {
      bool exceeds = false;
      int64_t gates[DMO_LSTM_GATES];
      for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
        gates[g] = gate_of(l, g, input, from, hidden, u, &exceeds);
      }
      const int16_t before = cell[u];
      output[to + u] = unit_of(l, gates, &cell[u], &exceeds);
      p->exceeds = p->exceeds || exceeds;
      if (l->is_standard && !exceeds && (u & 3) == 0) {
        const oracle_lstm_unit unit = oracle_unit(l, input, from, hidden, before, u);
        if (unit.hidden != output[to + u] || unit.cell != cell[u]) {
          fail("the model differs from the oracle at", (uint32_t)u);
        }
      }
    }
    memcpy(hidden, &output[to], 4 * (size_t)units);
  }
}

static void run(const layer *l, cmsis_nn_lstm_context *buffers, void *hidden, const void *input, void *output) {
  if (hidden == NULL && l->bytes == 1) {
    expect_status(ARM_CMSIS_NN_SUCCESS, arm_lstm_unidirectional_s8(input, output, &l->params, buffers));
  } else if (hidden == NULL) {
    expect_status(ARM_CMSIS_NN_SUCCESS, arm_lstm_unidirectional_s16(input, output, &l->params, buffers));
  } else if (l->bytes == 1) {
    dsp_run_lstm_s8(&l->params, buffers, hidden, input, output);
  } else {
    dsp_run_lstm_s16(&l->params, buffers, hidden, input, output);
  }
}

static void compare_all(const layer *l, const char *why, const int32_t *expected, const void *actual, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (expected[i] != at(l, actual, i)) {
      fail(why, (uint32_t)i);
      return;
    }
  }
}

static void compare_cells(const int16_t *expected, const int16_t *actual, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (expected[i] != actual[i]) {
      fail("wrong cell state at", (uint32_t)i);
      return;
    }
  }
}

// has_state: it is kept from one call to the next.
static void test_lstm(int32_t bytes, bool has_state) {
  what = bytes == 1 ? "arm_lstm_unidirectional_s8" : "arm_lstm_unidirectional_s16";
  layer l = random_layer(bytes);
  const int32_t units = l.size.units, states = l.size.batches * units;
  const int32_t input_count = l.size.batches * l.size.steps * l.size.inputs, output_count = l.size.steps * states;
  make_params(&l, has_state || l.size.steps > 1);
  const void *const input = elements(bytes, input_count);
  int16_t *const start_cell = elements(2, states);
  int8_t *const start_hidden = elements(bytes, states);
  progress p = { .exceeds = false };
  for (int32_t i = 0; i < states; ++i) {
    p.hidden[i] = has_state ? at(&l, start_hidden, i) : l.reference.hidden_zero_point;
    p.cell[i] = has_state ? start_cell[i] : 0;
  }
  int32_t *const expected = allocate(4 * output_count);
  for (int32_t b = 0; b < l.size.batches; ++b) {
    expect_batch(&l, b, input, &p, expected);
  }
  saturated_cases += p.exceeds ? 1 : 0;

  const int32_t together = l.size.time_major != 0 ? l.size.batches : 1;
  int16_t *const cell = elements(2, states);
  cmsis_nn_lstm_context buffers = { .temp1 = elements(2, together * units), .temp2 = elements(2, together * units),
                                    .cell_state = cell };
  void *const output = elements(bytes, output_count), *const hidden = has_state ? elements(bytes, states) : NULL;
  const int32_t steps = l.size.time_major != 0 ? l.size.steps : l.size.steps * l.size.batches;
  const int32_t distance = (steps - 1) * together * max_of(0, units - l.size.inputs) * bytes;
  int8_t *const memory = overlap(input, input_count * bytes, output_count * bytes, distance);
  for (int32_t overlapped = 0; overlapped < 2; ++overlapped) {
    memcpy(cell, start_cell, 2 * (size_t)states);
    if (has_state) {
      memcpy(hidden, start_hidden, (size_t)(states * bytes));
    }
    const void *const from = overlapped != 0 ? memory + distance : input;
    void *const to = overlapped != 0 ? memory : output;
    run(&l, &buffers, hidden, from, to);
    compare_all(&l, overlapped != 0 ? "wrong when overlapped at" : "wrong at", expected, to, output_count);
    compare_cells(p.cell, cell, states);
    if (has_state) {
      compare_all(&l, "wrong hidden state at", p.hidden, hidden, states);
    }
  }
  end_case();
}

// As the reference kernels, whose multiplier and shift say the same.
static void expect_activation(arm_nn_activation_type type, int32_t left_shift, int32_t count, const int16_t *input,
                              int16_t *output) {
  const dmo_sigmoid_s16_params params = { left_shift < 0 ? 3 : 3 << left_shift, left_shift < 0 ? -left_shift : 0 };
  (type == ARM_SIGMOID ? dmo_logistic_s16 : dmo_tanh_s16)(&params, table, count, input, output);
}

static void test_activation(void) {
  what = "arm_nn_activation_s16";
  const arm_nn_activation_type type = one_in(2) ? ARM_SIGMOID : ARM_TANH;
  const int32_t left_shift = one_in(3) ? 0 : between(-20, 13), count = between(0, 100);
  const int16_t *const input = elements(2, count);
  int16_t *const expected = allocate(2 * count), *const actual = elements(2, count);
  int16_t *const in_place = elements(2, count);
  expect_activation(type, left_shift, count, input, expected);
  memcpy(in_place, input, 2 * (size_t)count);
  expect_status(ARM_CMSIS_NN_SUCCESS, arm_nn_activation_s16(input, actual, count, left_shift, type));
  expect_status(ARM_CMSIS_NN_SUCCESS, arm_nn_activation_s16(in_place, in_place, count, left_shift, type));
  compare("wrong at", (const int8_t *)expected, (const int8_t *)actual, 2 * count);
  compare("wrong in place at", (const int8_t *)expected, (const int8_t *)in_place, 2 * count);
  end_case();
}

// Of every number.
static void test_all_arguments(arm_nn_activation_type type, int32_t left_shift) {
  what = "arm_nn_activation_s16 of all numbers";
  for (int32_t x = INT16_MIN; x <= INT16_MAX; ++x) {
    const int16_t input = (int16_t)x;
    int16_t expected, actual;
    expect_activation(type, left_shift, 1, &input, &expected);
    expect_status(ARM_CMSIS_NN_SUCCESS, arm_nn_activation_s16(&input, &actual, 1, left_shift, type));
    const int64_t exact =
        type == ARM_TANH ? oracle_lstm_tanh(table, x, left_shift - 12) : oracle_lstm_sigmoid(table, x);
    if (expected != actual || ((type == ARM_TANH || left_shift == 0) && exact != actual)) {
      fail("wrong at", (uint32_t)(x - INT16_MIN));
    }
  }
}

int main(void) {
  make_table();
  for (int32_t left_shift = -3; left_shift <= 3; ++left_shift) {
    test_all_arguments(ARM_SIGMOID, left_shift);
    test_all_arguments(ARM_TANH, left_shift);
  }
  for (case_number = 0; case_number < CASES; ++case_number) {
    test_lstm(1, one_in(4));
    test_lstm(2, one_in(4));
    test_activation();
  }
  print_number(cases_run);
  semihost_print(" cases with a memory, ");
  print_number(saturated_cases);
  semihost_print(failures == 0 ? " of which saturate, passed\n" : " of which saturate, and some failed\n");
  return failures == 0 ? 0 : 1;
}
