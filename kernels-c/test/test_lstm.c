// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "oracle_operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 1500, MAX_UNITS = 6, MAX_INPUTS = 6 };

static uint16_t sigmoid_table[DMO_SIGMOID_TABLE_SIZE];

static dmo_quant_per_tensor quant_of(double ratio) {
  int shift;
  const double fraction = frexp(ratio, &shift);
  return (dmo_quant_per_tensor){ (int32_t)fmin(round(fraction * 2147483648.0), 2147483647.0), shift };
}

// A layer with random weights and states, and what is needed to run it.
typedef struct {
  dmo_lstm_params params;
  dmo_lstm_size size;
  dmo_lstm_weights weights[DMO_LSTM_GATES];
  int8_t *storage[2 * DMO_LSTM_GATES];
  int32_t *bias[DMO_LSTM_GATES];
  int8_t *input, *hidden, *output;
  int16_t *cell, *scratch;
} layer;

static layer make_layer(dmo_lstm_params params) {
  layer l = {
    .params = params,
    .size = { random_between(1, 3), random_between(1, 5), random_between(1, MAX_INPUTS), random_between(1, MAX_UNITS),
              random_between(0, 1) },
  };
  const int32_t states = l.size.batches * l.size.units;
  for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
    l.storage[2 * g] = edgy_s8(l.size.units * l.size.inputs);
    l.storage[2 * g + 1] = edgy_s8(l.size.units * l.size.units);
    l.bias[g] = random_between(0, 3) == 0 ? NULL : random_s32(l.size.units, -3000, 3000);
    l.weights[g] = (dmo_lstm_weights){ l.storage[2 * g], l.storage[2 * g + 1], l.bias[g] };
  }
  l.input = edgy_s8(l.size.batches * l.size.steps * l.size.inputs);
  l.output = edgy_s8(l.size.steps * states);
  l.hidden = edgy_s8(states);
  l.cell = edgy_s16(states);
  l.scratch = edgy_s16(dmo_lstm_s8_scratch_bytes(&l.size) / 2);
  return l;
}

static void free_layer(layer *l) {
  for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
    free(l->storage[2 * g]), free(l->storage[2 * g + 1]), free(l->bias[g]);
  }
  free(l->input), free(l->output), free(l->hidden), free(l->cell), free(l->scratch);
}

static void run_layer(layer *l) {
  dmo_unidirectional_sequence_lstm_s8(&l->params, &l->size, l->input, l->weights, sigmoid_table, l->hidden, l->cell,
                                      l->output, l->scratch);
}

// Where a batch's vector of `width` elements of step t begins.
static int32_t offset_of(const dmo_lstm_size *size, int32_t batch, int32_t t, int32_t width) {
  return (size->time_major != 0 ? t * size->batches + batch : batch * size->steps + t) * width;
}

static void lstm_exactly(void) {
  const dmo_lstm_params params = {
    .input_offset = random_between(-127, 128),
    .hidden_zero_point = random_between(-128, 127),
    .gates = { { quant_of(exp2(-(double)random_between(0, 400) / 100.0)), quant_of(0.3) },
               { quant_of(0.2), quant_of(exp2(-(double)random_between(0, 400) / 100.0)) },
               { quant_of(0.05), quant_of(0.1) },
               { quant_of(0.4), quant_of(0.02) } },
    .forget_cell = quant_of(exp2(-15.0)),
    .input_cell = quant_of(exp2((double)random_between(-21, -15))),
    .output_cell = quant_of(exp2(-(double)random_between(2200, 2400) / 100.0)),
    .cell_scale_power = random_between(-15, 0),
    .cell_clip = random_between(0, 1) == 0 ? 0 : random_between(1, 32767),
  };
  layer l = make_layer(params);
  const int32_t units = l.size.units;
  int8_t hidden[3 * MAX_UNITS];
  int16_t cell[3 * MAX_UNITS];
  memcpy(hidden, l.hidden, (size_t)(l.size.batches * units));
  memcpy(cell, l.cell, (size_t)(l.size.batches * units) * sizeof *cell);

  run_layer(&l);
  bool same = true;
  for (int32_t b = 0; b < l.size.batches; ++b) {
    for (int32_t t = 0; t < l.size.steps; ++t) {
      const int8_t *output = &l.output[offset_of(&l.size, b, t, units)];
      int8_t next[MAX_UNITS];
      for (int32_t u = 0; u < units; ++u) {
        const oracle_lstm_unit unit =
            oracle_lstm(&params, &l.size, &l.input[offset_of(&l.size, b, t, l.size.inputs)], l.weights, sigmoid_table,
                        &hidden[b * units], cell[b * units + u], u);
        cell[b * units + u] = (int16_t)unit.cell;
        next[u] = (int8_t)unit.hidden;
        same = same && output[u] == next[u];
      }
      memcpy(&hidden[b * units], next, (size_t)units);
    }
  }
  same = same && memcmp(hidden, l.hidden, (size_t)(l.size.batches * units)) == 0 &&
         memcmp(cell, l.cell, (size_t)(l.size.batches * units) * sizeof *cell) == 0;
  CHECK(same, "unidirectional_sequence_lstm_s8", l.size.time_major);
  free_layer(&l);
}

// The layer against the real equations, in doubles, with scales as a converter would choose them.
static void lstm_really(void) {
  const double input_scale = 1.0 / 64.0, weight_scale = 1.0 / 256.0, hidden_scale = 1.0 / 128.0;
  const double cell_scale = exp2(-11.0);
  const dmo_lstm_gate_quant gate = { quant_of(input_scale * weight_scale * 4096.0),
                                     quant_of(hidden_scale * weight_scale * 4096.0) };
  const dmo_lstm_params params = {
    .input_offset = random_between(-20, 20),
    .hidden_zero_point = random_between(-1, 1),
    .gates = { gate, gate, gate, gate },
    .forget_cell = quant_of(exp2(-15.0)),
    .input_cell = quant_of(exp2(-30.0) / cell_scale),
    .output_cell = quant_of(exp2(-30.0) / hidden_scale),
    .cell_scale_power = -11,
  };
  layer l = make_layer(params);
  const int32_t units = l.size.units, inputs = l.size.inputs;
  double hidden[3][MAX_UNITS], cell[3][MAX_UNITS];
  for (int32_t i = 0; i < l.size.batches * units; ++i) {
    l.cell[i] /= 8;
    hidden[i / units][i % units] = hidden_scale * (double)(l.hidden[i] - params.hidden_zero_point);
    cell[i / units][i % units] = cell_scale * (double)l.cell[i];
  }

  run_layer(&l);
  double worst = 0.0;
  for (int32_t b = 0; b < l.size.batches; ++b) {
    for (int32_t t = 0; t < l.size.steps; ++t) {
      double next[MAX_UNITS];
      for (int32_t u = 0; u < units; ++u) {
        double gates[DMO_LSTM_GATES];
        for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
          double sum = l.bias[g] != NULL ? input_scale * weight_scale * (double)l.bias[g][u] : 0.0;
          for (int32_t i = 0; i < inputs; ++i) {
            sum += input_scale * (double)(l.input[offset_of(&l.size, b, t, inputs) + i] + params.input_offset) *
                   weight_scale * (double)l.weights[g].input_weights[u * inputs + i];
          }
          for (int32_t v = 0; v < units; ++v) {
            sum += hidden[b][v] * weight_scale * (double)l.weights[g].recurrent_weights[u * units + v];
          }
          gates[g] = g == DMO_LSTM_CELL_GATE ? tanh(sum) : oracle_logistic(sum);
        }
        cell[b][u] = gates[DMO_LSTM_FORGET_GATE] * cell[b][u] + gates[DMO_LSTM_INPUT_GATE] * gates[DMO_LSTM_CELL_GATE];
        next[u] = gates[DMO_LSTM_OUTPUT_GATE] * tanh(cell[b][u]);
        const int32_t actual = l.output[offset_of(&l.size, b, t, units) + u];
        worst = fmax(worst, fabs(next[u] - hidden_scale * (double)(actual - params.hidden_zero_point)));
      }
      memcpy(hidden[b], next, sizeof next);
    }
  }
  CHECK(worst < 0.03, "unidirectional_sequence_lstm_s8 against the equations", worst * 1e6);
  free_layer(&l);
}

static void lstm_s16_exactly(void) {
  const dmo_lstm_size size = { random_between(1, 3), random_between(1, 5), random_between(1, MAX_INPUTS),
                               random_between(1, MAX_UNITS), random_between(0, 1) };
  dmo_lstm_params params = {
    .forget_cell = quant_of(exp2(-15.0)),
    .input_cell = quant_of(exp2((double)random_between(-21, -15))),
    .output_cell = quant_of(exp2(-(double)random_between(1400, 1600) / 100.0)),
    .cell_scale_power = random_between(-15, 0),
    .cell_clip = random_between(0, 1) == 0 ? 0 : random_between(1, 32767),
  };
  dmo_lstm_weights_s16 weights[DMO_LSTM_GATES];
  int8_t *storage[2 * DMO_LSTM_GATES];
  int64_t *bias[DMO_LSTM_GATES];
  for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
    params.gates[g].input = quant_of(exp2(-(double)random_between(400, 1000) / 100.0));
    params.gates[g].recurrent = quant_of(exp2(-(double)random_between(400, 1000) / 100.0));
    storage[2 * g] = edgy_s8(size.units * size.inputs);
    storage[2 * g + 1] = edgy_s8(size.units * size.units);
    bias[g] = random_between(0, 3) == 0 ? NULL : random_s64(size.units, -3000, 3000, 300);
    weights[g] = (dmo_lstm_weights_s16){ storage[2 * g], storage[2 * g + 1], bias[g] };
  }
  const int32_t units = size.units, states = size.batches * units;
  int16_t *input = edgy_s16(size.batches * size.steps * size.inputs), *output = edgy_s16(size.steps * states);
  int16_t *hidden = edgy_s16(states), *cell = edgy_s16(states);
  int16_t *scratch = edgy_s16(dmo_lstm_s8_scratch_bytes(&size) / 2);
  int16_t hidden_now[3 * MAX_UNITS], cell_now[3 * MAX_UNITS];
  memcpy(hidden_now, hidden, (size_t)states * sizeof *hidden);
  memcpy(cell_now, cell, (size_t)states * sizeof *cell);

  dmo_unidirectional_sequence_lstm_s16(&params, &size, input, weights, sigmoid_table, hidden, cell, output, scratch);
  bool same = true;
  for (int32_t b = 0; b < size.batches; ++b) {
    for (int32_t t = 0; t < size.steps; ++t) {
      int16_t next[MAX_UNITS];
      for (int32_t u = 0; u < units; ++u) {
        const oracle_lstm_unit unit =
            oracle_lstm_s16(&params, &size, &input[offset_of(&size, b, t, size.inputs)], weights, sigmoid_table,
                            &hidden_now[b * units], cell_now[b * units + u], u);
        cell_now[b * units + u] = (int16_t)unit.cell;
        next[u] = (int16_t)unit.hidden;
        same = same && output[offset_of(&size, b, t, units) + u] == next[u];
      }
      memcpy(&hidden_now[b * units], next, (size_t)units * sizeof *next);
    }
  }
  same = same && memcmp(hidden_now, hidden, (size_t)states * sizeof *hidden) == 0 &&
         memcmp(cell_now, cell, (size_t)states * sizeof *cell) == 0;
  CHECK(same, "unidirectional_sequence_lstm_s16", size.time_major);
  for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
    free(storage[2 * g]), free(storage[2 * g + 1]), free(bias[g]);
  }
  free(input), free(output), free(hidden), free(cell), free(scratch);
}

// In floats against the real equations, in doubles. The layer starts anew: little errors would grow.
static void lstm_f32(void) {
  const dmo_lstm_size size = { random_between(1, 3), random_between(1, 5), random_between(1, MAX_INPUTS),
                               random_between(1, MAX_UNITS), random_between(0, 1) };
  const dmo_lstm_f32_params params = { random_between(0, 1) == 0 ? 0.0f : (float)random_between(1, 10) / 8.0f };
  const int32_t units = size.units, states = size.batches * units;
  dmo_lstm_weights_f32 weights[DMO_LSTM_GATES];
  float *storage[3 * DMO_LSTM_GATES];
  for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
    storage[3 * g] = random_f32(units * size.inputs), storage[3 * g + 1] = random_f32(units * units);
    storage[3 * g + 2] = random_between(0, 3) == 0 ? NULL : random_f32(units);
    weights[g] = (dmo_lstm_weights_f32){ storage[3 * g], storage[3 * g + 1], storage[3 * g + 2] };
  }
  float *input = random_f32(size.batches * size.steps * size.inputs), *output = random_f32(size.steps * states);
  float *hidden = random_f32(states), *cell = random_f32(states);
  float *scratch = random_f32(dmo_lstm_f32_scratch_bytes(&size) / 4);
  double hidden_now[3 * MAX_UNITS], cell_now[3 * MAX_UNITS], worst = 0.0;
  for (int32_t i = 0; i < states; ++i) {
    hidden_now[i] = (double)hidden[i], cell_now[i] = (double)cell[i];
  }

  dmo_unidirectional_sequence_lstm_f32(&params, &size, input, weights, hidden, cell, output, scratch);
  for (int32_t b = 0; b < size.batches; ++b) {
    for (int32_t t = 0; t < size.steps; ++t) {
      double next[MAX_UNITS];
      for (int32_t u = 0; u < units; ++u) {
        double gates[DMO_LSTM_GATES];
        for (int32_t g = 0; g < DMO_LSTM_GATES; ++g) {
          double sum = weights[g].bias != NULL ? (double)weights[g].bias[u] : 0.0;
          for (int32_t i = size.inputs - 1; i >= 0; --i) {
            sum += (double)input[offset_of(&size, b, t, size.inputs) + i] *
                   (double)weights[g].input_weights[u * size.inputs + i];
          }
          for (int32_t v = units - 1; v >= 0; --v) {
            sum += hidden_now[b * units + v] * (double)weights[g].recurrent_weights[u * units + v];
          }
          gates[g] = g == DMO_LSTM_CELL_GATE ? tanh(sum) : oracle_logistic(sum);
        }
        double *now = &cell_now[b * units + u];
        *now = gates[DMO_LSTM_FORGET_GATE] * *now + gates[DMO_LSTM_INPUT_GATE] * gates[DMO_LSTM_CELL_GATE];
        if (params.cell_clip > 0.0f) {
          *now = oracle_clamp_f64(*now, -(double)params.cell_clip, (double)params.cell_clip);
        }
        next[u] = gates[DMO_LSTM_OUTPUT_GATE] * tanh(*now);
        worst = fmax(worst, fabs(next[u] - (double)output[offset_of(&size, b, t, units) + u]));
      }
      memcpy(&hidden_now[b * units], next, (size_t)units * sizeof *next);
    }
  }
  CHECK(worst < 1e-3, "unidirectional_sequence_lstm_f32", worst * 1e6);
  for (int32_t i = 0; i < 3 * DMO_LSTM_GATES; ++i) {
    free(storage[i]);
  }
  free(input), free(output), free(hidden), free(cell), free(scratch);
}

// The interpolated functions over all 16-bit arguments.
static void table_functions(void) {
  for (int32_t x = INT16_MIN; x <= INT16_MAX; ++x) {
    const double real = (double)x / 4096.0;
    CHECK(fabs((double)oracle_lstm_sigmoid(sigmoid_table, x) - 32768.0 * oracle_logistic(real)) < 4.0, "sigmoid", x);
    CHECK(fabs((double)oracle_lstm_tanh(sigmoid_table, x, -12) - 32768.0 * tanh(real)) < 6.0, "tanh", x);
  }
}

void test_lstm(void) {
  for (int32_t i = 0; i < DMO_SIGMOID_TABLE_SIZE; ++i) {
    const double s = oracle_logistic((double)i / 24.0);
    sigmoid_table[i] = (uint16_t)round(65536.0 * (s + s * (1.0 - s) * (2.0 * s - 1.0) / 9216.0));
  }
  sigmoid_table[DMO_SIGMOID_TABLE_SIZE - 1] = 65535;
  table_functions();
  for (int32_t n = 0; n < CASES; ++n) {
    lstm_exactly();
    lstm_really();
    lstm_s16_exactly();
    lstm_f32();
  }
}
