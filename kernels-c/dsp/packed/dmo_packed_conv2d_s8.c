// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_packed.h"
#include "packed_multiply.h"
#include "packed_patches.h"

int32_t dmo_packed_conv2d_s8_scratch_bytes(const dmo_shape *filter_shape) {
  return packed_groups(filter_shape) * DSP_GROUP_WORDS * (int32_t)sizeof(uint32_t);
}

#if DSP_INSTRUCTIONS
// Loads four pixels whose windows are single pixels inside the input, and as far apart as the first two. Returns false
// if it does not take the layer or the place.
static bool load_1x1(packed_patches *patches, uint32_t *rows) {
  const dmo_conv_geometry *const g = &patches->params->geometry;
  const dmo_shape *const in = patches->input_shape, *const filter = patches->filter_shape;
  const dmo_shape *const out = patches->output_shape;
  const bool is_dense = g->stride_h == 1 && g->stride_w == 1 && out->w == in->w;
  if (filter->h * filter->w != 1 || in->c % DSP_GROUP_COLUMNS != 0 || g->pad_h != 0 || g->pad_w != 0 ||
      (out->h - 1) * g->stride_h >= in->h || (out->w - 1) * g->stride_w >= in->w ||
      !(is_dense || patches->x + DSP_ROWS <= out->w)) {
    return false;
  }
  const int32_t at = patches->y * g->stride_h * in->w + patches->x * g->stride_w;
  const uint32_t offsets = dsp_pair(patches->params->input_offset, patches->params->input_offset);
  dsp_widen_four(rows, &patches->input[at * in->c], g->stride_w * in->c, dsp_groups(in->c), offsets);
  packed_skip(patches, DSP_ROWS);
  return true;
}
#else
static bool load_1x1(packed_patches *patches, uint32_t *rows) {
  (void)patches;
  (void)rows;
  return false;
}
#endif

void dmo_packed_conv2d_s8(const dmo_conv2d_params *params, const dmo_shape *input_shape, const int8_t *input,
                          const dmo_shape *filter_shape, const uint32_t *packed, const dmo_shape *output_shape,
                          int8_t *output, void *scratch) {
  const int32_t channels = output_shape->c, pixels = output_shape->h * output_shape->w;
  uint32_t *const rows = scratch;
  const packed_layer layer = {
    .range = dsp_make_range(params->output_offset, params->activation_min, params->activation_max),
    .rows = rows,
    .groups = packed_groups(filter_shape),
    .packed = packed,
    .channels = channels,
  };
  packed_patches patches = { params, input_shape, filter_shape, output_shape, input, 0, 0 };
  for (int32_t b = 0; b < output_shape->n; ++b) {
    for (int32_t first = 0; first < pixels; first += DSP_ROWS) {
      const int32_t count = pixels - first < DSP_ROWS ? pixels - first : DSP_ROWS;
      if (count < DSP_ROWS || !load_1x1(&patches, rows)) {
        packed_load_patches(&patches, count, rows);
      }
      packed_multiply(&layer, output, count > 1 ? channels : 0, count > 2 ? channels : 0, count > 3 ? channels : 0);
      output += count * channels;
    }
    packed_next_image(&patches);
  }
}
