// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "dmo_signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 500, MOST = 24 };

static int64_t bounded(int64_t number, int64_t least, int64_t most) {
  return number < least ? least : number > most ? most : number;
}

// Of any length in bits.
static uint64_t random_u64(int32_t most_bits) {
  const uint64_t high = (uint32_t)random_between(INT32_MIN, INT32_MAX), low = (uint32_t)random_between(INT32_MIN, INT32_MAX);
  return (high << 32 | low) >> (64 - random_between(1, most_bits));
}

static void fill_u32(uint32_t *numbers, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    numbers[i] = (uint32_t)random_u64(32);
  }
}

static void window(void) {
  const int32_t width = random_between(1, 6), rows = random_between(1, 4), shift = random_between(0, 16);
  int16_t *input = edgy_s16(rows * width), *weights = edgy_s16(width), *output = edgy_s16(rows * width);
  dmo_signal_window_s16(width, shift, rows * width, input, weights, output);
  int32_t wrong = 0;
  for (int32_t row = 0; row < rows; ++row) {
    for (int32_t i = 0; i < width; ++i) {
      const double exact = floor(ldexp((double)input[row * width + i] * weights[i], -shift));
      wrong += output[row * width + i] == bounded((int64_t)exact, INT16_MIN, INT16_MAX) ? 0 : 1;
    }
  }
  CHECK(wrong == 0, "signal_window", wrong);
  free(input), free(weights), free(output);
}

static void scale(void) {
  const int32_t count = random_between(1, MOST), narrow = random_between(0, 15);
  int16_t *input = edgy_s16(count), *output = edgy_s16(count);
  int32_t largest = 0, bits = -1, expected = 0, wrong = 0;
  for (int32_t i = 0; i < count; ++i) {
    input[i] = (int16_t)(input[i] / (1 << narrow));
    input[i] = input[i] == INT16_MIN ? 0 : input[i];
    largest = abs(input[i]) > largest ? abs(input[i]) : largest;
  }
  while (largest != 0 && largest << (expected + 1) <= INT16_MAX) {
    ++expected;
  }
  dmo_signal_scale_s16(count, input, output, &bits);
  for (int32_t i = 0; i < count; ++i) {
    wrong += output[i] == input[i] * (1 << expected) ? 0 : 1;
  }
  CHECK(bits == expected && wrong == 0, "signal_scale", bits);
  free(input), free(output);
}

// What TensorFlow Lite Micro does with the one number whose magnitude has no place: the largest of the others decides.
static void scale_of_least(void) {
  const int16_t input[] = { 5, INT16_MIN, -3, -9 };
  int16_t output[4];
  int32_t bits = -1;
  dmo_signal_scale_s16(4, input, output, &bits);
  // -3 is larger than what -32768 wraps to, and 9 than -3.
  CHECK(bits == 11 && output[3] == -9 * 2048, "signal_scale of -32768", bits);
}

static void energy(void) {
  const int32_t count = random_between(1, MOST), begin = random_between(0, count), end = random_between(begin, count);
  int16_t *input = edgy_s16(2 * count);
  uint32_t output[MOST];
  fill_u32(output, count);
  dmo_signal_energy_s16(begin, end, count, input, output);
  int32_t wrong = 0;
  for (int32_t i = 0; i < count; ++i) {
    const double re = input[2 * i], im = input[2 * i + 1];
    wrong += (double)output[i] == (begin <= i && i < end ? re * re + im * im : 0.0) ? 0 : 1;
  }
  CHECK(wrong == 0, "signal_energy", wrong);
  free(input);
}

// Each input's share in each channel, as a matrix.
static void filter_bank(void) {
  enum { CHANNELS = 5, INPUTS = 12, WIDTH = 4 };
  int16_t begins[CHANNELS + 1], places[CHANNELS + 1], widths[CHANNELS + 1], used = 0;
  int64_t share[CHANNELS + 1][INPUTS] = { { 0 } };
  int16_t *weights = edgy_s16((CHANNELS + 1) * WIDTH), *unweights = edgy_s16((CHANNELS + 1) * WIDTH);
  uint32_t input[INPUTS];
  uint64_t output[CHANNELS], scratch[CHANNELS];
  fill_u32(input, INPUTS);
  const int32_t channels = random_between(1, CHANNELS);
  for (int32_t entry = 0; entry <= channels; ++entry) {
    widths[entry] = (int16_t)random_between(0, WIDTH);
    begins[entry] = (int16_t)random_between(0, INPUTS - widths[entry]);
    places[entry] = used;
    for (int32_t i = 0; i < widths[entry]; ++i, ++used) {
      share[entry][begins[entry] + i] += weights[used];
      if (entry < channels) {
        share[entry + 1][begins[entry] + i] += unweights[used];
      }
    }
  }
  const dmo_signal_bank bank = { channels, begins, places, widths, weights, unweights };
  CHECK(dmo_signal_filter_bank_scratch_bytes(&bank) == channels * 8, "signal_filter_bank scratch", channels);
  dmo_signal_filter_bank(&bank, input, output, scratch);
  int32_t wrong = 0;
  for (int32_t channel = 0; channel < channels; ++channel) {
    uint64_t sum = 0;
    for (int32_t i = INPUTS - 1; i >= 0; --i) {
      sum += (uint64_t)share[channel + 1][i] * input[i];
    }
    wrong += sum == output[channel] ? 0 : 1;
  }
  CHECK(wrong == 0, "signal_filter_bank", wrong);
  free(weights), free(unweights);
}

// Whether the number lies in [(root - 1 / 2)^2, (root + 1 / 2)^2), in units that are whole.
static bool is_nearest(uint64_t root, uint64_t number) {
  const bool is_above = root == 0 || number > root * (root - 1);
  const uint64_t next = root * root + root;
  return is_above && (next < root || number <= next);
}

static void square_root(void) {
  uint64_t input[MOST];
  uint32_t output[MOST];
  const int32_t count = random_between(1, MOST), bits = random_between(0, 3);
  for (int32_t i = 0; i < count; ++i) {
    const uint64_t root = random_u64(32);
    // Half of them beside the middle between two squares.
    input[i] = random_between(0, 1) == 0 ? random_u64(64) : root * root + root + (uint64_t)random_between(0, 1);
  }
  dmo_signal_square_root(count, input, &bits, output);
  int32_t wrong = 0;
  for (int32_t i = 0; i < count; ++i) {
    uint32_t whole;
    const int32_t none = 0;
    dmo_signal_square_root(1, &input[i], &none, &whole);
    const bool is_cut = (whole == UINT16_MAX && input[i] <= UINT32_MAX) || whole == UINT32_MAX;
    wrong += (is_cut || is_nearest(whole, input[i])) && output[i] == whole >> bits ? 0 : 1;
  }
  CHECK(wrong == 0, "signal_square_root", wrong);
}

static double clipped(double number, double most) {
  return number < most ? number : most;
}

// In doubles, which hold all of these numbers.
static void subtract_noise(void) {
  enum { BITS = 10 };
  const dmo_signal_noise params = {
    { (uint32_t)random_between(0, 1024), (uint32_t)random_between(0, 1024) },
    { (uint32_t)random_between(0, 1024), (uint32_t)random_between(0, 1024) },
    (uint32_t)random_between(0, 1024), (uint32_t)random_between(0, 8), BITS, random_between(0, 1),
  };
  const int32_t channels = random_between(1, MOST);
  uint32_t input[MOST], kept[MOST], before[MOST], output[MOST], noise[MOST];
  for (int32_t i = 0; i < channels; ++i) {
    input[i] = (uint32_t)random_u64(22);
    before[i] = kept[i] = (uint32_t)random_u64(22);
  }
  dmo_signal_subtract_noise(&params, channels, input, kept, output, noise);
  int32_t wrong = 0;
  for (int32_t i = 0; i < channels; ++i) {
    const double signal = ldexp(input[i], (int)params.smoothing_bits);
    const double parts = signal * params.smoothing[i % 2] + (double)before[i] * params.one_minus_smoothing[i % 2];
    const double estimate = floor(ldexp(parts, -BITS)), removed = clipped(estimate, signal);
    const double rest = floor(ldexp(signal - removed, -(int)params.smoothing_bits));
    const double least = floor(ldexp((double)input[i] * params.min_signal_remaining, -BITS));
    wrong += (double)output[i] == (rest > least ? rest : least) ? 0 : 1;
    wrong += (double)kept[i] == (params.clamping == 1 ? removed : estimate) && noise[i] == kept[i] ? 0 : 1;
  }
  CHECK(wrong == 0, "signal_subtract_noise", wrong);
}

// With gains that are the same everywhere, or straight in the logarithm of the noise.
static void pcan(void) {
  int16_t gains[125] = { 0 };
  const int32_t base = random_between(0, 900), rise = random_between(0, 500), shift = random_between(0, 12);
  for (int32_t bits = 2; bits <= 32; ++bits) {
    gains[4 * bits - 6] = (int16_t)(base + rise * bits);
    gains[4 * bits - 5] = (int16_t)rise;
  }
  gains[0] = gains[1] = (int16_t)base;
  gains[2] = (int16_t)(base + 2 * rise);
  const int32_t count = random_between(1, MOST);
  uint32_t input[MOST], noise[MOST], output[MOST];
  fill_u32(noise, count);
  int32_t wrong = 0;
  for (int32_t i = 0; i < count; ++i) {
    input[i] = (uint32_t)random_u64(15);
  }
  dmo_signal_pcan(shift, count, input, noise, gains, output);
  for (int32_t i = 0; i < count; ++i) {
    double gain = base;
    if (noise[i] >= 2) {
      const int bits = (int)floor(log2(noise[i])) + 1;
      const double after = noise[i] / ldexp(1.0, bits - 1) - 1.0;
      gain = floor(base + rise * (bits + floor(after * 1024.0) / 1024.0) + 0.5);
    }
    const double ratio = floor(ldexp(input[i] * gain, -shift));
    const double shrunk = ratio < 8192.0 ? floor(ldexp(ratio * ratio, -20)) : floor(ratio / 64.0) - 64.0;
    wrong += (double)output[i] == shrunk ? 0 : 1;
  }
  CHECK(wrong == 0, "signal_pcan", wrong);
}

// Between two entries of the table lies less than a 400th.
static void logarithm(void) {
  uint16_t table[129];
  for (int32_t i = 0; i <= 128; ++i) {
    table[i] = (uint16_t)lround(65536.0 * (log2(1.0 + i / 128.0) - i / 128.0));
  }
  const int32_t count = random_between(1, MOST), correction = random_between(0, 3), most = random_between(1, 2000);
  uint32_t input[MOST];
  int16_t output[MOST];
  fill_u32(input, count);
  dmo_signal_log(correction, (uint32_t)most, count, input, table, output);
  int32_t wrong = 0;
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t x = input[i] << correction;
    const double exact = x > 1 ? clipped(most * log(x), INT16_MAX) : 0.0;
    wrong += fabs(output[i] - exact) <= 0.51 + most * 0.0025 ? 0 : 1;
  }
  CHECK(wrong == 0, "signal_log", wrong);
}

// Several calls on one stream a row give what one look at all of it does.
enum { CALLS = 7, ROWS = 3, FRAME = 6, LONGEST = CALLS * 4 * FRAME };

static int16_t at(const int16_t *stream, int32_t place) {
  return place < 0 ? (int16_t)0 : stream[place];
}

static void delay(void) {
  const dmo_signal_delay_size size = { random_between(1, ROWS), random_between(1, FRAME), random_between(0, 15) };
  int16_t *streams = edgy_s16(ROWS * LONGEST), input[ROWS * FRAME], output[ROWS * FRAME], kept[ROWS * (FRAME + 15)] = { 0 };
  int32_t wrong = 0;
  for (int32_t call = 0; call < CALLS; ++call) {
    for (int32_t i = 0; i < size.rows * size.frame; ++i) {
      input[i] = streams[i / size.frame * LONGEST + call * size.frame + i % size.frame];
    }
    dmo_signal_delay_s16(&size, input, kept, output);
    for (int32_t i = 0; i < size.rows * size.frame; ++i) {
      const int32_t place = call * size.frame + i % size.frame - size.delay;
      wrong += output[i] == at(streams + i / size.frame * LONGEST, place) ? 0 : 1;
    }
  }
  CHECK(wrong == 0, "signal_delay", wrong);
  free(streams);
}

static void framer(void) {
  const int32_t step = random_between(1, FRAME), frame = random_between(step, 3 * FRAME), frames = random_between(1, 4);
  const int32_t prefill = random_between(0, 1) * (frame - step), capacity = (frame + step - 1) / step * step;
  const dmo_signal_framer_size size = { random_between(1, ROWS), frames, frame, step, prefill };
  int16_t *streams = edgy_s16(ROWS * LONGEST), kept[ROWS * 4 * FRAME] = { 0 };
  int16_t input[ROWS * 4 * FRAME], output[ROWS * 4 * 3 * FRAME];
  int32_t count = 0, wrong = 0;
  for (int32_t call = 0; call < CALLS; ++call) {
    for (int32_t i = 0; i < size.rows * frames * step; ++i) {
      input[i] = streams[i / (frames * step) * LONGEST + call * frames * step + i % (frames * step)];
    }
    bool valid = false, are_all = true;
    dmo_signal_framer_s16(&size, input, kept, &count, output, &valid);
    for (int32_t i = 0; i < size.rows * frames * frame; ++i) {
      const int32_t number = call * frames + i / frame % frames, heard = (number + 1) * step;
      const int32_t first = heard - (prefill > 0 ? frame : capacity);
      const bool is_there = prefill > 0 || heard >= capacity;
      const int16_t expected = is_there ? at(streams + i / (frames * frame) * LONGEST, first + i % frame) : (int16_t)0;
      are_all = are_all && is_there;
      wrong += output[i] == expected ? 0 : 1;
    }
    wrong += valid == are_all ? 0 : 1;
  }
  CHECK(wrong == 0, "signal_framer", wrong);
  free(streams);
}

static void stacker(void) {
  const int32_t left = random_between(0, 3), right = random_between(0, 3), step = random_between(1, left + right + 1);
  const dmo_signal_stacker_size size = { random_between(1, 4), left, right, step };
  enum { WIDEST = 4 * 7 };
  int16_t *stream = edgy_s16(4 * CALLS), kept[WIDEST] = { 0 }, output[WIDEST];
  int32_t counts[2] = { 0, 0 }, wrong = 0, centre = 0;
  for (int32_t call = 0; call < CALLS; ++call) {
    bool valid = false;
    dmo_signal_stacker_s16(&size, stream + call * size.channels, kept, counts, output, &valid);
    const bool is_there = call == centre + right;
    for (int32_t i = 0; i < (left + 1 + right) * size.channels; ++i) {
      const int32_t frame = centre - left + i / size.channels;
      const int16_t heard = stream[(frame < 0 ? 0 : frame) % CALLS * size.channels + i % size.channels];
      wrong += output[i] == (is_there ? heard : 0) ? 0 : 1;
    }
    wrong += valid == is_there ? 0 : 1;
    centre += is_there ? step : 0;
  }
  CHECK(wrong == 0, "signal_stacker", wrong);
  free(stream);
}

// Of numbers whose sums do not saturate, and so are those of floats.
static void overlap_add(void) {
  const int32_t frame = random_between(1, FRAME), step = random_between(1, frame), frames = random_between(1, 3);
  const dmo_signal_overlap_size size = { random_between(1, ROWS), frames, frame, step };
  int16_t input[ROWS * 3 * FRAME], output[ROWS * 3 * FRAME], kept[ROWS * FRAME] = { 0 };
  float input_f32[ROWS * 3 * FRAME], output_f32[ROWS * 3 * FRAME], kept_f32[ROWS * FRAME] = { 0.0f };
  double sums[ROWS][CALLS * 3 * FRAME + FRAME] = { { 0.0 } };
  int32_t wrong = 0;
  for (int32_t call = 0; call < CALLS; ++call) {
    for (int32_t i = 0; i < size.rows * frames * frame; ++i) {
      input[i] = (int16_t)random_between(-4000, 4000);
      input_f32[i] = input[i];
      sums[i / (frames * frame)][(call * frames + i / frame % frames) * step + i % frame] += input[i];
    }
    dmo_signal_overlap_add_s16(&size, input, kept, output);
    dmo_signal_overlap_add_f32(&size, input_f32, kept_f32, output_f32);
    for (int32_t i = 0; i < size.rows * frames * step; ++i) {
      const double sum = sums[i / (frames * step)][call * frames * step + i % (frames * step)];
      wrong += (double)output[i] == sum && (double)output_f32[i] == sum ? 0 : 1;
    }
  }
  CHECK(wrong == 0, "signal_overlap_add", wrong);
  const dmo_signal_overlap_size one = { 1, 1, 1, 1 };
  const int16_t least = INT16_MIN;
  int16_t loud = -1, saturated = 0;
  dmo_signal_overlap_add_s16(&one, &least, &loud, &saturated);
  CHECK(saturated == INT16_MIN && loud == 0, "signal_overlap_add saturated", saturated);
}

void test_signal(void) {
  scale_of_least();
  for (int32_t n = 0; n < CASES; ++n) {
    window();
    scale();
    energy();
    filter_bank();
    square_root();
    subtract_noise();
    pcan();
    logarithm();
    delay();
    framer();
    stacker();
    overlap_add();
  }
}
