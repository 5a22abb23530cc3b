// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The steps of an LSTM. What includes this defines the types of activations, of sums and of a gate's weights
// (DMO_LSTM_ACTIVATION with its limits DMO_LSTM_LEAST and DMO_LSTM_GREATEST, DMO_LSTM_SUM, DMO_LSTM_WEIGHTS), and how a sum
// is requantised (DMO_LSTM_REQUANTIZE).
#ifndef DMO_LSTM_STEPS_H
#define DMO_LSTM_STEPS_H

#include "dmo_sigmoid_table.h"

#include <stddef.h>
#include <string.h>

static int16_t saturate(int32_t value) {
  return (int16_t)dmo_clamp(value, INT16_MIN, INT16_MAX);
}

// x Q3.12, result Q0.15.
static int16_t sigmoid(const uint16_t *table, int32_t x) {
  return dmo_table_sigmoid(table, x * 3);
}

// x in units of 2^scale_power, result Q0.15.
static int16_t hyperbolic_tangent(const uint16_t *table, int32_t x, int32_t scale_power) {
  const int32_t right = scale_power < -12 ? -12 - scale_power : 0;
  const int32_t left = scale_power > -12 ? scale_power + 12 : 0;
  const int32_t half = right > 0 ? 1 << (right - 1) : 0;
  return dmo_table_tanh(table, (x * (3 << left) + half) >> right);
}

static int16_t scaled_product(const dmo_quant_per_tensor *quant, int32_t a, int32_t b) {
  return saturate(dmo_requantize(a * b, quant->multiplier, quant->shift));
}

// One row of a fully connected layer, in Q3.12.
static int16_t row(const dmo_quant_per_tensor *quant, DMO_LSTM_SUM bias, int32_t count, const int8_t *weights,
                   const DMO_LSTM_ACTIVATION *input, int32_t input_offset) {
  DMO_LSTM_SUM sum = bias;
  for (int32_t i = 0; i < count; ++i) {
    sum += (input[i] + input_offset) * weights[i];
  }
  return saturate(DMO_LSTM_REQUANTIZE(sum, quant->multiplier, quant->shift));
}

// What the parts of a step share. The pointers are to the step's batches.
typedef struct {
  const dmo_lstm_params *params;
  const DMO_LSTM_WEIGHTS *weights;
  const uint16_t *sigmoid_table;
  int32_t batches, inputs, units;
  const DMO_LSTM_ACTIVATION *input;
  DMO_LSTM_ACTIVATION *hidden_state;
  int16_t *cell_state;
  int16_t *gates[DMO_LSTM_GATES];
} step;

static void compute_gate(const step *s, int32_t gate) {
  const DMO_LSTM_WEIGHTS *weights = &s->weights[gate];
  const dmo_lstm_gate_quant *quant = &s->params->gates[gate];
  int16_t *out = s->gates[gate];

  for (int32_t b = 0; b < s->batches; ++b) {
    for (int32_t u = 0; u < s->units; ++u) {
      out[b * s->units + u] = row(&quant->input, weights->bias != NULL ? weights->bias[u] : 0, s->inputs,
                                  &weights->input_weights[u * s->inputs], &s->input[b * s->inputs],
                                  s->params->input_offset);
    }
  }
  for (int32_t b = 0; b < s->batches; ++b) {
    for (int32_t u = 0; u < s->units; ++u) {
      const int16_t recurrent = row(&quant->recurrent, 0, s->units, &weights->recurrent_weights[u * s->units],
                                    &s->hidden_state[b * s->units], -s->params->hidden_zero_point);
      const int32_t sum = saturate(out[b * s->units + u] + recurrent);
      out[b * s->units + u] = gate == DMO_LSTM_CELL_GATE ? hyperbolic_tangent(s->sigmoid_table, sum, -12)
                                                         : sigmoid(s->sigmoid_table, sum);
    }
  }
}

static void update_cell_state(const step *s) {
  const dmo_lstm_params *params = s->params;
  for (int32_t i = 0; i < s->batches * s->units; ++i) {
    const int32_t kept = scaled_product(&params->forget_cell, s->gates[DMO_LSTM_FORGET_GATE][i], s->cell_state[i]);
    const int32_t added = scaled_product(&params->input_cell, s->gates[DMO_LSTM_INPUT_GATE][i],
                                         s->gates[DMO_LSTM_CELL_GATE][i]);
    const int32_t sum = saturate(kept + added);
    const int32_t clip = params->cell_clip > 0 ? params->cell_clip : -INT16_MIN;
    s->cell_state[i] = (int16_t)dmo_clamp(sum, -clip, clip);
  }
}

static void update_hidden_state(const step *s) {
  const dmo_lstm_params *params = s->params;
  for (int32_t i = 0; i < s->batches * s->units; ++i) {
    const int32_t activated = hyperbolic_tangent(s->sigmoid_table, s->cell_state[i], params->cell_scale_power);
    const int32_t product = dmo_requantize(activated * s->gates[DMO_LSTM_OUTPUT_GATE][i],
                                           params->output_cell.multiplier, params->output_cell.shift);
    s->hidden_state[i] = (DMO_LSTM_ACTIVATION)dmo_clamp(product + params->hidden_zero_point, DMO_LSTM_LEAST, DMO_LSTM_GREATEST);
  }
}

// Steps over `batches` batches at once; consecutive steps lie next to each other.
static void run(step *s, int32_t steps, DMO_LSTM_ACTIVATION *output) {
  const int32_t state_size = s->batches * s->units;
  for (int32_t t = 0; t < steps; ++t) {
    for (int32_t gate = 0; gate < DMO_LSTM_GATES; ++gate) {
      compute_gate(s, gate);
    }
    update_cell_state(s);
    update_hidden_state(s);
    memcpy(output, s->hidden_state, (size_t)state_size * sizeof *output);
    s->input += s->batches * s->inputs;
    output += state_size;
  }
}

static void run_all(const dmo_lstm_params *params, const dmo_lstm_size *size, const DMO_LSTM_ACTIVATION *input,
                    const DMO_LSTM_WEIGHTS weights[4], const uint16_t *sigmoid_table, DMO_LSTM_ACTIVATION *hidden_state,
                    int16_t *cell_state, DMO_LSTM_ACTIVATION *output, int16_t *scratch) {
  const int32_t together = size->time_major != 0 ? size->batches : 1;
  const int32_t gate_size = together * size->units;
  step s = {
    .params = params,
    .weights = weights,
    .sigmoid_table = sigmoid_table,
    .batches = together,
    .inputs = size->inputs,
    .units = size->units,
    .gates = { scratch, scratch + gate_size, scratch + 2 * gate_size, scratch + 3 * gate_size },
  };
  for (int32_t b = 0; b < size->batches; b += together) {
    s.input = &input[b * size->steps * size->inputs];
    s.hidden_state = &hidden_state[b * size->units];
    s.cell_state = &cell_state[b * size->units];
    run(&s, size->steps, &output[b * size->steps * size->units]);
  }
}

#endif
