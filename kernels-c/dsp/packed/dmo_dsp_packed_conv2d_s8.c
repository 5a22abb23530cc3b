// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_dsp_packed.h"
#include "packed_multiply.h"
#include "packed_patches.h"

// Rows of few columns are on the stack, as in dsp_multiply.h; fewer than there, as these functions take less stack.
enum { FEW_GROUPS = 2 };

int32_t dmo_dsp_packed_conv2d_s8_scratch_bytes(const dmo_shape *filter_shape) {
  const int32_t groups = packed_groups(filter_shape);
  return groups <= FEW_GROUPS ? 0 : dsp_rows_bytes(groups * DSP_GROUP_COLUMNS);
}

// Where windows are the pixels themselves, an image is one row.
static bool is_pointwise(const packed_patches *patches, const dmo_shape *output) {
  const dmo_conv_geometry *const g = &patches->geometry;
  return patches->taps_h == 1 && patches->taps_w == 1 && g->stride_h == 1 && g->stride_w == 1 && g->pad_h == 0 &&
         g->pad_w == 0 && output->h == patches->height && output->w == patches->width;
}

DSP_OUT_OF_LINE static void convolve(const dmo_conv2d_params *params, const dmo_shape *input_shape,
                                     const int8_t *input, const dmo_shape *filter_shape, const uint32_t *packed,
                                     const dmo_shape *output_shape, int8_t *output, void *scratch) {
  const int32_t channels = output_shape->c, pixels = output_shape->h * output_shape->w;
  uint32_t *const rows = scratch;
  packed_patches patches = {
    .geometry = params->geometry,
    .input_offset = params->input_offset,
    .height = input_shape->h,
    .width = input_shape->w,
    .depth = input_shape->c,
    .taps_h = filter_shape->h,
    .taps_w = filter_shape->w,
    .out_width = output_shape->w,
    .input = input,
  };
  patches.is_pointwise = is_pointwise(&patches, output_shape);
  if (patches.is_pointwise) {
    patches.height = 1;
    patches.width = pixels;
    patches.out_width = pixels;
  }
  const dsp_range range = dsp_make_range(params->output_offset, params->activation_min, params->activation_max);
  packed_layer layer = packed_prepare(&range, rows, packed_groups(filter_shape), packed, channels);
  for (int32_t b = 0; b < output_shape->n; ++b) {
    int32_t oy = 0, ox = 0;
    for (int32_t first = 0; first < pixels; first += DSP_ROWS) {
      const int32_t count = pixels - first < DSP_ROWS ? pixels - first : DSP_ROWS;
      packed_load_patches(&patches, oy, ox, count, rows);
      packed_multiply(&layer, output, count);
      output += count * channels;
      ox += count;
      while (ox >= patches.out_width) {
        ox -= patches.out_width;
        ++oy;
      }
    }
    patches.input += input_shape->h * input_shape->w * input_shape->c;
  }
}

void dmo_dsp_packed_conv2d_s8(const dmo_conv2d_params *params, const dmo_shape *input_shape, const int8_t *input,
                          const dmo_shape *filter_shape, const uint32_t *packed, const dmo_shape *output_shape,
                          int8_t *output, void *scratch) {
  // A call with the same arguments takes no stack of its own.
  if (packed_groups(filter_shape) > FEW_GROUPS) {
    convolve(params, input_shape, input, filter_shape, packed, output_shape, output, scratch);
    return;
  }
  uint32_t rows[FEW_GROUPS * DSP_GROUP_WORDS];
  convolve(params, input_shape, input, filter_shape, packed, output_shape, output, rows);
}
