// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dsp_lstm.h"
#include "dsp_ratio.h"
#include "dsp_sigmoid.h"
#include "dsp_wide.h"

typedef struct {
  dsp_lstm_matrix input, hidden;
  arm_nn_activation_type activation;
} lstm_gate;

// A ratio, and what stands for it in a few instructions.
typedef struct {
  int32_t multiplier, shift;
  dsp_ratio ratio;
} lstm_scale;

// What all steps share.
typedef struct {
  const dsp_lstm_kind *kind;
  lstm_gate forget, input, cell, output;
  lstm_scale forget_cell, input_cell, output_cell;
  dsp_steps cell_steps;
  int32_t cell_least, cell_greatest, output_offset;
  int32_t batches, inputs, units; // batches of one step
  bool is_usual;                  // every scale is a dsp_ratio, and only the cell gate's activation is not the sigmoid
} lstm;

static lstm_scale make_scale(int32_t multiplier, int32_t shift) {
  const bool has_ratio = dsp_has_ratio(multiplier, shift);
  return (lstm_scale){ multiplier, shift, dsp_make_ratio(has_ratio ? multiplier : 0, has_ratio ? shift : 0) };
}

static bool has_ratio(const lstm_scale *scale) {
  return dsp_has_ratio(scale->multiplier, scale->shift);
}

// The second matrix is not looked at where it is not used: it may be none.
static lstm_gate make_gate(const dsp_lstm_kind *kind, const cmsis_nn_lstm_gate *gate, int32_t inputs, int32_t units,
                           bool uses_hidden) {
  lstm_gate result = {
    .input = { gate->input_weights, gate->input_effective_bias, gate->input_multiplier, gate->input_shift, inputs,
               false },
    .hidden = { gate->hidden_weights, gate->hidden_effective_bias, gate->hidden_multiplier, gate->hidden_shift, units,
                false },
    .activation = gate->activation_type,
  };
  result.input.is_fast = kind->is_fast(&result.input, units);
  result.hidden.is_fast = uses_hidden && kind->is_fast(&result.hidden, units);
  return result;
}

static lstm make_lstm(const dsp_lstm_kind *kind, const cmsis_nn_lstm_params *params, bool uses_hidden) {
  const int32_t inputs = params->input_size, units = params->hidden_size;
  const bool clips = params->cell_clip > 0;
  lstm l = {
    .kind = kind,
    .forget = make_gate(kind, &params->forget_gate, inputs, units, uses_hidden),
    .input = make_gate(kind, &params->input_gate, inputs, units, uses_hidden),
    .cell = make_gate(kind, &params->cell_gate, inputs, units, uses_hidden),
    .output = make_gate(kind, &params->output_gate, inputs, units, uses_hidden),
    .forget_cell = make_scale(params->forget_to_cell_multiplier, params->forget_to_cell_shift),
    .input_cell = make_scale(params->input_to_cell_multiplier, params->input_to_cell_shift),
    .output_cell = make_scale(params->output_multiplier, params->output_shift),
    .cell_steps = dsp_make_steps(params->cell_scale_power + 12),
    .cell_least = clips ? -params->cell_clip : INT16_MIN,
    .cell_greatest = clips ? params->cell_clip : INT16_MAX,
    .output_offset = params->output_offset,
    .batches = params->time_major != 0 ? params->batch_size : 1,
    .inputs = inputs,
    .units = units,
  };
  l.is_usual = has_ratio(&l.forget_cell) && has_ratio(&l.input_cell) && has_ratio(&l.output_cell) &&
               l.forget.activation == ARM_SIGMOID && l.input.activation == ARM_SIGMOID &&
               l.cell.activation != ARM_SIGMOID && l.output.activation == ARM_SIGMOID;
  return l;
}

static void multiply_rows(const lstm *l, const lstm_gate *gate, const void *input, const void *hidden, int32_t first,
                          int32_t end, int16_t *values) {
  l->kind->multiply(&gate->input, input, first, end, false, values);
  if (hidden != NULL) {
    l->kind->multiply(&gate->hidden, hidden, first, end, true, values);
  }
}

// The arguments of a gate's activation.
static void multiply_gate(const lstm *l, const lstm_gate *gate, const int8_t *input, const int8_t *hidden,
                          int16_t *values) {
  const int32_t units = l->units, rest = units & 3;
  for (int32_t b = 0; b < l->batches; ++b) {
    if (units >= 4) {
      multiply_rows(l, gate, input, hidden, 0, units - rest, values);
    }
    if (rest != 0) {
      // With rows before them, which are computed again.
      multiply_rows(l, gate, input, hidden, units >= 4 ? units - 4 : 0, units, values);
    }
    input += l->inputs * l->kind->bytes;
    hidden = hidden == NULL ? NULL : hidden + units * l->kind->bytes;
    values += units;
  }
}

DSP_INLINE int32_t activate(arm_nn_activation_type activation, int32_t x) {
  return activation == ARM_SIGMOID ? dsp_sigmoid(3 * x) : dsp_tanh(3 * x);
}

DSP_INLINE int32_t apply(bool is_usual, const lstm_scale *scale, int32_t product) {
  return is_usual ? dsp_apply_ratio(&scale->ratio, product)
                  : dmo_requantize(product, scale->multiplier, scale->shift);
}

DSP_INLINE void forget_cells(const lstm *l, bool is_usual, const int16_t *forget, int16_t *cell) {
  const lstm_scale scale = l->forget_cell;
  const arm_nn_activation_type activation = is_usual ? ARM_SIGMOID : l->forget.activation;
  for (int32_t left = l->batches * l->units; left > 0; --left) {
    *cell = (int16_t)dsp_saturate_half(apply(is_usual, &scale, activate(activation, *forget++) * *cell));
    ++cell;
  }
}

DSP_INLINE void add_to_cells(const lstm *l, bool is_usual, const int16_t *input, const int16_t *candidate,
                             int16_t *cell) {
  const lstm_scale scale = l->input_cell;
  const arm_nn_activation_type input_activation = is_usual ? ARM_SIGMOID : l->input.activation;
  const arm_nn_activation_type cell_activation = is_usual ? ARM_TANH : l->cell.activation;
  const int32_t least = l->cell_least, greatest = l->cell_greatest;
  for (int32_t left = l->batches * l->units; left > 0; --left) {
    const int32_t product = activate(input_activation, *input++) * activate(cell_activation, *candidate++);
    *cell = (int16_t)dmo_clamp(*cell + apply(is_usual, &scale, product), least, greatest);
    ++cell;
  }
}

// bytes: of an activation.
DSP_INLINE void store_outputs(const lstm *l, bool is_usual, int32_t bytes, const int16_t *gate, const int16_t *cell,
                              int8_t *output) {
  const lstm_scale scale = l->output_cell;
  const arm_nn_activation_type activation = is_usual ? ARM_SIGMOID : l->output.activation;
  const dsp_steps steps = l->cell_steps;
  const int32_t offset = l->output_offset;
  for (int32_t left = l->batches * l->units; left > 0; --left) {
    const int32_t product = activate(activation, *gate++) * dsp_tanh(dsp_in_steps(&steps, *cell++));
    const int32_t value = apply(is_usual, &scale, product) + offset;
    if (bytes == 1) {
      *output = (int8_t)dsp_saturate_signed(value);
    } else {
      const int16_t half = (int16_t)dsp_saturate_half(value);
      memcpy(output, &half, sizeof half);
    }
    output += bytes;
  }
}

DSP_INLINE void run_step(const lstm *l, bool is_usual, const int8_t *input, const int8_t *hidden, int16_t *temp1,
                         int16_t *temp2, int16_t *cell, int8_t *output) {
  multiply_gate(l, &l->forget, input, hidden, temp1);
  forget_cells(l, is_usual, temp1, cell);
  multiply_gate(l, &l->input, input, hidden, temp1);
  multiply_gate(l, &l->cell, input, hidden, temp2);
  add_to_cells(l, is_usual, temp1, temp2, cell);
  multiply_gate(l, &l->output, input, hidden, temp1);
  if (l->kind->bytes == 1) {
    store_outputs(l, is_usual, 1, temp1, cell, output);
  } else {
    store_outputs(l, is_usual, 2, temp1, cell, output);
  }
}

DSP_OUT_OF_LINE static void run_usual_step(const lstm *l, const int8_t *input, const int8_t *hidden, int16_t *temp1,
                                           int16_t *temp2, int16_t *cell, int8_t *output) {
  run_step(l, true, input, hidden, temp1, temp2, cell, output);
}

DSP_OUT_OF_LINE static void run_any_step(const lstm *l, const int8_t *input, const int8_t *hidden, int16_t *temp1,
                                         int16_t *temp2, int16_t *cell, int8_t *output) {
  run_step(l, false, input, hidden, temp1, temp2, cell, output);
}

// `batches` of params, or one of them, over all time.
static void run_batches(const lstm *l, int32_t time_steps, const int8_t *input, int16_t *temp1, int16_t *temp2,
                        int16_t *cell, int8_t *state, int8_t *output) {
  const int32_t input_bytes = l->batches * l->inputs * l->kind->bytes;
  const int32_t output_bytes = l->batches * l->units * l->kind->bytes;
  const int8_t *hidden = state;
  for (int32_t t = 0; t < time_steps; ++t) {
    (l->is_usual ? run_usual_step : run_any_step)(l, input, hidden, temp1, temp2, cell, output);
    hidden = output;
    input += input_bytes;
    output += output_bytes;
  }
  if (state != NULL && time_steps > 0) {
    memcpy(state, hidden, (size_t)output_bytes);
  }
}

void dsp_run_lstm(const dsp_lstm_kind *kind, const cmsis_nn_lstm_params *params, const cmsis_nn_lstm_context *buffers,
                  void *hidden_state, const void *input, void *output) {
  const int32_t steps = params->time_steps, states = params->batch_size * params->hidden_size;
  const lstm l = make_lstm(kind, params, hidden_state != NULL || steps > 1);
  const int8_t *from = input;
  int8_t *state = hidden_state, *to = output;
  int16_t *cell = buffers->cell_state;
  if (hidden_state == NULL) {
    memset(cell, 0, (size_t)states * sizeof *cell);
  }
  for (int32_t b = 0; b < params->batch_size; b += l.batches) {
    run_batches(&l, steps, from, buffers->temp1, buffers->temp2, cell, state, to);
    from += steps * l.batches * l.inputs * kind->bytes;
    to += steps * l.batches * l.units * kind->bytes;
    cell += l.batches * l.units;
    state = state == NULL ? NULL : state + l.batches * l.units * kind->bytes;
  }
}
