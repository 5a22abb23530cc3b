// SPDX-License-Identifier: MIT OR Apache-2.0
#include "oracle_operators.h"

#include <stddef.h>

static int64_t saturate(int64_t value) {
  return oracle_clamp(value, INT16_MIN, INT16_MAX);
}

// The sigmoid of position / (24 * unit), where unit is 512 or 256, in 1 / (65536 * unit); position is at least 0.
static int64_t from_table(const uint16_t *table, int64_t position, int64_t unit, int64_t beyond) {
  const int64_t left = position / unit;
  if (left >= 255) {
    return beyond;
  }
  return table[left] * (unit - position % unit) + table[left + 1] * (position % unit);
}

// The result for a negative argument is 1 minus the result for its magnitude; halves round down there.
int64_t oracle_lstm_sigmoid(const uint16_t *table, int64_t x) {
  const int64_t sigmoid = from_table(table, x < 0 ? -3 * x : 3 * x, 512, INT64_C(32767) * 1024);
  return x < 0 ? oracle_divide_down(INT64_C(32768) * 1024 - sigmoid + 511, 1024)
               : oracle_divide_down(sigmoid + 512, 1024);
}

int64_t oracle_lstm_tanh(const uint16_t *table, int64_t x, int32_t scale_power) {
  const int64_t position = scale_power >= -12
                               ? 3 * x * (INT64_C(1) << (scale_power + 12))
                               : oracle_divide_down(3 * x + (INT64_C(1) << (-13 - scale_power)),
                                                    INT64_C(1) << (-12 - scale_power));
  const int64_t sigmoid = from_table(table, position < 0 ? -position : position, 256, INT64_C(65535) * 256);
  const int64_t above_half = sigmoid - INT64_C(32768) * 256;
  return position < 0 ? oracle_divide_down(-above_half + 127, 256) : oracle_divide_down(above_half + 128, 256);
}

// A gate of its two sums, requantised.
static int64_t activated(const uint16_t *table, int32_t gate, int64_t from_input, int64_t from_hidden) {
  const int64_t argument = saturate(saturate(from_input) + saturate(from_hidden));
  return gate == DMO_LSTM_CELL_GATE ? oracle_lstm_tanh(table, argument, -12) : oracle_lstm_sigmoid(table, argument);
}

static int64_t gate_of(const dmo_lstm_params *params, const dmo_lstm_size *size, const int8_t *input,
                       const dmo_lstm_weights *weights, const uint16_t *table, const int8_t *hidden, int32_t unit,
                       int32_t gate) {
  const dmo_lstm_gate_quant *quant = &params->gates[gate];
  int64_t from_input = weights[gate].bias != NULL ? weights[gate].bias[unit] : 0;
  int64_t from_hidden = 0;
  for (int32_t i = size->inputs - 1; i >= 0; --i) {
    from_input += ((int64_t)input[i] + params->input_offset) * weights[gate].input_weights[unit * size->inputs + i];
  }
  for (int32_t v = size->units - 1; v >= 0; --v) {
    from_hidden += ((int64_t)hidden[v] - params->hidden_zero_point) *
                   weights[gate].recurrent_weights[unit * size->units + v];
  }
  return activated(table, gate, oracle_requantize(from_input, quant->input.multiplier, quant->input.shift),
                   oracle_requantize(from_hidden, quant->recurrent.multiplier, quant->recurrent.shift));
}

static int64_t gate_of_s16(const dmo_lstm_params *params, const dmo_lstm_size *size, const int16_t *input,
                           const dmo_lstm_weights_s16 *weights, const uint16_t *table, const int16_t *hidden,
                           int32_t unit, int32_t gate) {
  const dmo_lstm_gate_quant *quant = &params->gates[gate];
  int64_t from_input = weights[gate].bias != NULL ? weights[gate].bias[unit] : 0, from_hidden = 0;
  for (int32_t i = size->inputs - 1; i >= 0; --i) {
    from_input += ((int64_t)input[i] + params->input_offset) * weights[gate].input_weights[unit * size->inputs + i];
  }
  for (int32_t v = size->units - 1; v >= 0; --v) {
    from_hidden += ((int64_t)hidden[v] - params->hidden_zero_point) *
                   weights[gate].recurrent_weights[unit * size->units + v];
  }
  return activated(table, gate, oracle_requantize_wide(from_input, quant->input.multiplier, quant->input.shift),
                   oracle_requantize_wide(from_hidden, quant->recurrent.multiplier, quant->recurrent.shift));
}

// What the gates make of a cell; the hidden state has this many bits.
static oracle_lstm_unit unit_of(const dmo_lstm_params *params, const int64_t gates[DMO_LSTM_GATES],
                                const uint16_t *sigmoid_table, int16_t cell, int32_t hidden_bits) {
  const int64_t kept = saturate(oracle_requantize(gates[DMO_LSTM_FORGET_GATE] * cell, params->forget_cell.multiplier,
                                                  params->forget_cell.shift));
  const int64_t added = saturate(oracle_requantize(gates[DMO_LSTM_INPUT_GATE] * gates[DMO_LSTM_CELL_GATE],
                                                   params->input_cell.multiplier, params->input_cell.shift));
  int64_t new_cell = saturate(kept + added);
  if (params->cell_clip > 0) {
    new_cell = oracle_clamp(new_cell, -params->cell_clip, params->cell_clip);
  }
  const int64_t activated_cell = oracle_lstm_tanh(sigmoid_table, new_cell, params->cell_scale_power);
  const int64_t product = oracle_requantize(gates[DMO_LSTM_OUTPUT_GATE] * activated_cell,
                                            params->output_cell.multiplier, params->output_cell.shift);
  const int64_t limit = INT64_C(1) << (hidden_bits - 1);
  return (oracle_lstm_unit){
    .cell = (int32_t)new_cell,
    .hidden = (int32_t)oracle_clamp(product + params->hidden_zero_point, -limit, limit - 1),
  };
}

oracle_lstm_unit oracle_lstm(const dmo_lstm_params *params, const dmo_lstm_size *size, const int8_t *input,
                             const dmo_lstm_weights *weights, const uint16_t *sigmoid_table, const int8_t *hidden,
                             int16_t cell, int32_t unit) {
  int64_t gates[DMO_LSTM_GATES];
  for (int32_t gate = DMO_LSTM_GATES - 1; gate >= 0; --gate) {
    gates[gate] = gate_of(params, size, input, weights, sigmoid_table, hidden, unit, gate);
  }
  return unit_of(params, gates, sigmoid_table, cell, 8);
}

oracle_lstm_unit oracle_lstm_s16(const dmo_lstm_params *params, const dmo_lstm_size *size, const int16_t *input,
                                 const dmo_lstm_weights_s16 *weights, const uint16_t *sigmoid_table,
                                 const int16_t *hidden, int16_t cell, int32_t unit) {
  int64_t gates[DMO_LSTM_GATES];
  for (int32_t gate = DMO_LSTM_GATES - 1; gate >= 0; --gate) {
    gates[gate] = gate_of_s16(params, size, input, weights, sigmoid_table, hidden, unit, gate);
  }
  return unit_of(params, gates, sigmoid_table, cell, 16);
}
