// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The signal library of TensorFlow Lite Micro: audio to the logarithms of channels, one frame after the other. What is
// computed follows its signal/src and signal/micro/kernels. No two buffers of a call overlap unless a planner proved it
// safe (see dmo_conv.h); what is called kept overlaps nothing, persists from one call to the next and begins as zeros.
// Buffers are aligned to their elements. Scratch: none, unless a parameter is called so.
#ifndef DMO_SIGNAL_H
#define DMO_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// output[i] = saturate(input[i] * window[i % width] >> shift), shift in [0, 31]. Walks the flat index upwards: one load,
// then one store.
void dmo_signal_window_s16(int32_t width, int32_t shift, int32_t count, const int16_t *input, const int16_t *window,
                           int16_t *output);

// Shifts all numbers to the left by the bits that the largest magnitude leaves free, and says by how many. As in TensorFlow
// Lite Micro, zeros are not shifted, and -32768 counts as the least of all maxima, so that what follows it decides.
// Order: loads all; then one load, one store, upwards; then stores the number of bits.
void dmo_signal_scale_s16(int32_t count, const int16_t *input, int16_t *output, int32_t *bits);

// output[i] = re[i]^2 + im[i]^2 for i in [begin, end), where input[2 * i] is re[i] and input[2 * i + 1] is im[i]; 0 for
// other i of [0, count). TensorFlow Lite Micro leaves these as they were. Order: upwards, two loads, then one store.
void dmo_signal_energy_s16(int32_t begin, int32_t end, int32_t count, const int16_t *input, uint32_t *output);

// Tables of channels + 1 entries: where a channel's inputs begin, where its weights do, and how many it has.
typedef struct {
  int32_t channels;
  const int16_t *input_begins, *weight_begins, *widths;
  const int16_t *weights, *unweights;
} dmo_signal_bank;

int32_t dmo_signal_filter_bank_scratch_bytes(const dmo_signal_bank *bank);

// output[c] = sum of weights * inputs of entry c + 1, plus sum of unweights * inputs of entry c: triangles, each of which
// rises over one entry and falls over the next. Modulo 2^64; weights keep their sign. Order: loads all, summing up in the
// scratch; then stores upwards.
void dmo_signal_filter_bank(const dmo_signal_bank *bank, const uint32_t *input, uint64_t *output, uint64_t *scratch);

// output[i] = nearest whole number to the square root, >> bits[0]; of roots from 65535.5 on where the input has 32 bits,
// and from 2^32 - 0.5 on, the whole number below. Loads bits first; then upwards, one load, one store.
void dmo_signal_square_root(int32_t count, const uint64_t *input, const int32_t *bits, uint32_t *output);

// Numbers in [0, 1] as fractions of 2^bits; those of odd channels are the second ones.
typedef struct {
  uint32_t smoothing[2], one_minus_smoothing[2];
  uint32_t min_signal_remaining;
  uint32_t smoothing_bits; // at most 31
  uint32_t bits;           // at most 63
  int32_t clamping;        // 1 if the noise is at most the signal, else 0
} dmo_signal_noise;

// kept[c] = (input[c] << smoothing_bits) * smoothing + kept[c] * one_minus_smoothing, the noise of a channel;
// output[c] = the signal without it, but at least min_signal_remaining of it. Order: upwards, one load, one store to
// output; then stores all of kept to noise.
void dmo_signal_subtract_noise(const dmo_signal_noise *params, int32_t channels, const uint32_t *input, uint32_t *kept,
                               uint32_t *output, uint32_t *noise);

// Gain control: output[i] = shrink(input[i] * gain(noise[i]) >> shift), shift in [0, 63], where gain is a piecewise
// polynomial of second degree, three numbers of `gains` for each power of two with one unused after them, and
// shrink(x) = x < 2 ? x^2 / 4 : x - 1, of numbers with 12 bits after the point to ones with 6. gains [125]. Order: upwards,
// a load of each input, then one store.
void dmo_signal_pcan(int32_t shift, int32_t count, const uint32_t *input, const uint32_t *noise, const int16_t *gains,
                     uint32_t *output);

// output[i] = min(scale * ln(input[i] << correction_bits), 32767), 0 for logarithms of 0 and 1; correction_bits in [0, 31].
// table[i] is 65536 * (log2(1 + i / 128) - i / 128), i from 0 to 128. Walks the flat index upwards: one load, then one store.
void dmo_signal_log(int32_t correction_bits, uint32_t scale, int32_t count, const uint32_t *input,
                    const uint16_t *table, int16_t *output);

// Each of some rows is a stream of its own, of which a call takes `frame` elements; kept [rows, delay + frame].
typedef struct {
  int32_t rows, frame, delay;
} dmo_signal_delay_size;

// What came in `delay` elements ago. Order: row by row: loads all of it, then stores all of it.
void dmo_signal_delay_s16(const dmo_signal_delay_size *size, const int16_t *input, int16_t *kept, int16_t *output);

// Each of some rows is a stream of its own, of which a call takes `frames` times `step` elements. There are `prefill` zeros
// before it.
typedef struct {
  int32_t rows, frames, frame, step, prefill;
} dmo_signal_framer_size;

// Frames that begin a step apart; output [rows, frames, frame]. kept has for each row the least multiple of step that is
// frame or more, `count` one element: how many of these there are beyond prefill. `valid` is whether there was enough for
// all frames; others are zeros, where TensorFlow Lite Micro leaves what was there. Order: frame by frame: loads a step,
// then stores a frame; after all of them `valid`.
void dmo_signal_framer_s16(const dmo_signal_framer_size *size, const int16_t *input, int16_t *kept, int32_t *count,
                           int16_t *output, bool *valid);

typedef struct {
  int32_t channels, left, right, step;
} dmo_signal_stacker_size;

// One frame of all channels with those before and after it, left + 1 + right of them, in each step-th call; the first frame
// stands for those before it. kept [(left + 1 + right) * channels]; counts has how many elements of it there are, and
// whether there was a first frame. `valid` is whether there is an output; else it is zeros, where TensorFlow Lite Micro
// leaves what was there. Order: loads all, then stores all; then `valid`.
void dmo_signal_stacker_s16(const dmo_signal_stacker_size *size, const int16_t *input, int16_t *kept, int32_t *counts,
                            int16_t *output, bool *valid);

// input [rows, frames, frame], kept [rows, frame], output [rows, frames, step]; step is at most frame.
typedef struct {
  int32_t rows, frames, frame, step;
} dmo_signal_overlap_size;

// Sums of frames that begin a step apart, those of 16 bits saturated after each. Order: frame by frame: loads all of it,
// then stores a step.
void dmo_signal_overlap_add_s16(const dmo_signal_overlap_size *size, const int16_t *input, int16_t *kept, int16_t *output);
void dmo_signal_overlap_add_f32(const dmo_signal_overlap_size *size, const float *input, float *kept, float *output);

#ifdef __cplusplus
}
#endif

#endif
