// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_dsp_pitched.h"
#include "dsp_multiply.h"

// Where the patches of a layer come from.
typedef struct {
  const dmo_conv2d_params *params;
  const dmo_shape *input_shape, *filter_shape;
  const dmo_pitch *pitch;
  const int8_t *input;
  int8_t *bytes; // of a patch that is gathered first, or NULL
} patch_source;

static int32_t patch_bytes(const dmo_shape *filter_shape) {
  return filter_shape->h * filter_shape->w * filter_shape->c;
}

// Rows are filled group by group if no tap of a patch begins within a group of columns; else the patch is gathered byte
// by byte first.
static bool is_gathered(const dmo_shape *filter_shape) {
  return filter_shape->c % DSP_GROUP_COLUMNS != 0 && filter_shape->h * filter_shape->w != 1;
}

int32_t dmo_dsp_conv2d_pitched_s8_scratch_bytes(const dmo_shape *filter_shape) {
  const int32_t columns = patch_bytes(filter_shape);
  return dsp_rows_bytes(columns) + (is_gathered(filter_shape) ? DSP_GROUP_COLUMNS * dsp_groups(columns) : 0);
}

static uint32_t *clear(uint32_t *row, int32_t columns) {
  for (int32_t i = 0; i < columns; i += DSP_GROUP_COLUMNS) {
    row[0] = 0;
    row[1] = 0;
    row += DSP_GROUP_WORDS;
  }
  return row;
}

static uint32_t *widen(const patch_source *source, uint32_t *row, const int8_t *from, int32_t count) {
  const int32_t offset = source->params->input_offset;
  return dsp_widen(row, from, count, offset, false);
}

// The patch whose first tap is at (top, left). Taps outside the input contribute nothing: 0, or the byte that the
// offset makes 0.
static void load_patch(const patch_source *source, uint32_t *row, int32_t top, int32_t left) {
  const dmo_conv_geometry *g = &source->params->geometry;
  const dmo_shape *in = source->input_shape;
  const dmo_shape *taps = source->filter_shape;
  const int8_t zero = (int8_t)-source->params->input_offset;
  int8_t *to = source->bytes;
  for (int32_t fy = 0; fy < taps->h; ++fy) {
    const int32_t y = top + fy * g->dilation_h;
    for (int32_t fx = 0; fx < taps->w; ++fx) {
      const int32_t x = left + fx * g->dilation_w;
      const bool inside = y >= 0 && y < in->h && x >= 0 && x < in->w;
      const int8_t *from = inside ? &source->input[dmo_pitched_offset(source->pitch, y, x, 0)] : NULL;
      if (to == NULL) {
        row = inside ? widen(source, row, from, taps->c) : clear(row, taps->c);
        continue;
      }
      for (int32_t c = 0; c < taps->c; ++c) {
        *to++ = inside ? from[c] : zero;
      }
    }
  }
  if (to != NULL) {
    widen(source, row, source->bytes, patch_bytes(taps));
  }
}

void dmo_dsp_conv2d_pitched_s8(const dmo_conv2d_params *params, const dmo_quant_per_channel *quant,
                               const dmo_shape *input_shape, const dmo_pitch *input_pitch, const int8_t *input,
                               const dmo_shape *filter_shape, const int8_t *filter, const int32_t *bias,
                               const dmo_shape *output_shape, const dmo_pitch *output_pitch, int8_t *output,
                               void *scratch) {
  const dmo_conv_geometry *g = &params->geometry;
  const int32_t columns = patch_bytes(filter_shape);
  const int32_t channels = output_shape->c;
  const dsp_range range = dsp_make_range(params->output_offset, params->activation_min, params->activation_max);
  const int32_t exact = dsp_count_exact(&range, channels, quant->multiplier, quant->shift, bias, columns);
  const dsp_filters filters = {
    .filter = filter,
    .bias = bias,
    .multiplier = quant->multiplier,
    .shift = quant->shift,
    .channels = channels,
    .columns = columns,
    .range = range,
    .way = exact == channels ? DSP_EXACT : dsp_fast_way(&range),
    .some_exact = exact != 0,
  };
  uint32_t *const rows = scratch;
  const patch_source source = {
    .params = params,
    .input_shape = input_shape,
    .filter_shape = filter_shape,
    .pitch = input_pitch,
    .input = input,
    .bytes = is_gathered(filter_shape) ? (int8_t *)scratch + dsp_rows_bytes(columns) : NULL,
  };
#if DSP_INSTRUCTIONS
  const bool is_1x1 = filter_shape->h == 1 && filter_shape->w == 1 && columns % DSP_GROUP_COLUMNS == 0 &&
                      g->pad_h == 0 && g->pad_w == 0 &&
                      (output_shape->h - 1) * g->stride_h < input_shape->h &&
                      (output_shape->w - 1) * g->stride_w < input_shape->w;
  const uint32_t offsets = dsp_pair(params->input_offset, params->input_offset);
#endif
  dsp_table table;
  dsp_prepare(&filters, &table, rows);

  for (int32_t oy = 0; oy < output_shape->h; ++oy) {
    const int32_t top = oy * g->stride_h - g->pad_h;
    for (int32_t ox = 0; ox < output_shape->w; ox += DSP_ROWS) {
      const int32_t rest = output_shape->w - ox;
      const int32_t count = rest < DSP_ROWS ? rest : DSP_ROWS;
      int8_t *const out = &output[dmo_pitched_offset(output_pitch, oy, ox, 0)];
#if DSP_INSTRUCTIONS
      if (is_1x1 && count == DSP_ROWS) {
        const int8_t *from = &input[dmo_pitched_offset(input_pitch, top, ox * g->stride_w, 0)];
        dsp_widen_four(rows, from, g->stride_w * input_pitch->pixel, dsp_groups(columns), offsets);
        dsp_multiply_some_pixels(&filters, &table, DSP_ROWS, out, output_pitch->pixel);
        continue;
      }
#endif
      for (int32_t i = 0; i < DSP_ROWS; ++i) {
        // Rows that no pixel needs are copies of the last.
        const int32_t left = (ox + (i < count ? i : count - 1)) * g->stride_w - g->pad_w;
        load_patch(&source, &rows[2 * i], top, left);
      }
      dsp_multiply_some_pixels(&filters, &table, count, out, output_pitch->pixel);
    }
  }
}
