// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_lstm.h"
#include "dmo_unary.h"

#include <stddef.h>
#include <string.h>

int32_t dmo_lstm_f32_scratch_bytes(const dmo_lstm_size *size) {
  const int32_t batches = size->time_major != 0 ? size->batches : 1;
  return DMO_LSTM_GATES * batches * size->units * (int32_t)sizeof(float);
}

static float product(int32_t count, const float *a, const float *b) {
  float sum = 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

static void compute_gate(const dmo_lstm_size *size, int32_t batches, int32_t gate, const float *input,
                         const dmo_lstm_weights_f32 *weights, const float *hidden, float *out) {
  const int32_t units = size->units, count = batches * units;
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t u = 0; u < units; ++u) {
      const float sum = product(size->inputs, &input[b * size->inputs], &weights->input_weights[u * size->inputs]);
      out[b * units + u] = sum + (weights->bias != NULL ? weights->bias[u] : 0.0f);
    }
  }
  for (int32_t b = 0; b < batches; ++b) {
    for (int32_t u = 0; u < units; ++u) {
      out[b * units + u] += product(units, &hidden[b * units], &weights->recurrent_weights[u * units]);
    }
  }
  if (gate == DMO_LSTM_CELL_GATE) {
    dmo_tanh_f32(count, out, out);
  } else {
    dmo_logistic_f32(count, out, out);
  }
}

// The gates lie one after the other.
static void update_states(const dmo_lstm_f32_params *params, int32_t count, float *gates, float *hidden, float *cell) {
  const float *in = &gates[DMO_LSTM_INPUT_GATE * count], *forget = &gates[DMO_LSTM_FORGET_GATE * count];
  const float *candidate = &gates[DMO_LSTM_CELL_GATE * count], *out = &gates[DMO_LSTM_OUTPUT_GATE * count];
  for (int32_t i = 0; i < count; ++i) {
    const float kept = forget[i] * cell[i], added = in[i] * candidate[i];
    const float sum = kept + added;
    cell[i] = params->cell_clip > 0.0f ? dmo_clamp_f32(sum, -params->cell_clip, params->cell_clip) : sum;
  }
  dmo_tanh_f32(count, cell, gates);
  for (int32_t i = 0; i < count; ++i) {
    hidden[i] = gates[i] * out[i];
  }
}

void dmo_unidirectional_sequence_lstm_f32(const dmo_lstm_f32_params *params, const dmo_lstm_size *size,
                                          const float *input, const dmo_lstm_weights_f32 weights[4],
                                          float *hidden_state, float *cell_state, float *output, float *scratch) {
  const int32_t together = size->time_major != 0 ? size->batches : 1, count = together * size->units;
  for (int32_t b = 0; b < size->batches; b += together) {
    float *hidden = &hidden_state[b * size->units], *cell = &cell_state[b * size->units];
    for (int32_t t = 0; t < size->steps; ++t) {
      for (int32_t gate = 0; gate < DMO_LSTM_GATES; ++gate) {
        compute_gate(size, together, gate, input, &weights[gate], hidden, &scratch[gate * count]);
      }
      update_states(params, count, scratch, hidden, cell);
      memcpy(output, hidden, (size_t)count * sizeof *output);
      input += together * size->inputs;
      output += count;
    }
  }
}
