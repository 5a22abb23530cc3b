// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Operators that move elements of any type without changing them; element_bytes is 1, 2, 4 or 8. Buffers are aligned to
// their element. Those that move single elements load and store each as one access of its size (8: as the compiler
// likes). Output and input do not overlap unless a planner proved it safe; see dmo_conv.h. For those that call memcpy,
// which promises nothing about its order, that means: not at all.
#ifndef DMO_MOVE_H
#define DMO_MOVE_H

#include "dmo_layout.h"
#include "dmo_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Concatenation along one axis (0 = n .. 3 = c). The input shapes agree on the other axes.
// Loop order: for each position on the axes before the axis, for each input, one memcpy. Scratch: none.
void dmo_concat(int32_t axis, int32_t element_bytes, int32_t input_count, const dmo_shape *input_shapes,
                const void *const *inputs, void *output);

// The inverse of dmo_concat. The output shapes agree on the other axes; on the axis they add up to the input's extent.
// Loop order: for each position on the axes before the axis, for each output, one memcpy. Scratch: none.
void dmo_split(int32_t axis, int32_t element_bytes, int32_t output_count, const dmo_shape *output_shapes,
               const void *input, void *const *outputs);

// Surrounds the input by the element at `value`.
// Loop order: n, h, w, c of the output; each element is stored once, after the load, if any, of its input element.
// Scratch: none.
void dmo_pad(const dmo_padding *before, const void *value, int32_t element_bytes,
             const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output);

// Axis i of the output is axis axes[i] of the input; each axis occurs once.
typedef struct {
  int32_t axes[4];
} dmo_transpose_params;

// Loop order: n, h, w, c of the output; one load, then one store. Scratch: none.
void dmo_transpose(const dmo_transpose_params *params, int32_t element_bytes,
                   const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output);

// The input's coordinates, n h w c, of the output's first element. begin + output extent is at most the input's extent.
typedef struct {
  int32_t begin[4];
} dmo_slice_params;

// Loop order: n, h, w, c of the output; one load, then one store. Scratch: none.
void dmo_slice(const dmo_slice_params *params, int32_t element_bytes,
               const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output);

// Output coordinate i on an axis comes from input coordinate begin + i * stride, which is in range; begin is at least
// 0, and stride may be negative, or 0 where one coordinate serves all.
typedef struct {
  int32_t begin[4];
  int32_t stride[4];
} dmo_strided_slice_params;

// Loop order: n, h, w, c of the output; one load, then one store. Scratch: none.
void dmo_strided_slice(const dmo_strided_slice_params *params, int32_t element_bytes,
                       const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output);

// Tensors of one shape stacked along a new axis: `parts` of them, each with a run of `run` elements for each of the
// `rounds` positions on the axes before the new one.
typedef struct {
  int32_t parts, rounds, run;
} dmo_stack_size;

// inputs [rounds, run] each, output [rounds, parts, run].
// Loop order: part, round, then the elements of its run; one load, then one store. Scratch: none.
void dmo_pack(const dmo_stack_size *size, int32_t element_bytes, const void *const *inputs, void *output);

// The inverse of dmo_pack, in the same order.
void dmo_unpack(const dmo_stack_size *size, int32_t element_bytes, const void *input, void *const *outputs);

typedef struct {
  int32_t size; // height and width of a block, at least 1
} dmo_block_params;

// Each block of pixels becomes one pixel, row by row: input [N, H * size, W * size, C], output [N, H, W, C * size^2];
// and the inverse. Loop order: n, h, w, c of the larger image; one load, then one store. Scratch: none.
void dmo_space_to_depth(const dmo_block_params *block, int32_t element_bytes,
                        const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output);
void dmo_depth_to_space(const dmo_block_params *block, int32_t element_bytes,
                        const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output);

// Of the tensor with more batches, batch s * N + n with the pixel (h, w) is the image's batch n, of N, with the pixel
// (h * block_h + s / block_w - before_h, w * block_w + s % block_w - before_w), where that exists.
typedef struct {
  int32_t block_h, block_w;   // at least 1
  int32_t before_h, before_w; // padding above and left of the image, or what is cropped there; at least 0
} dmo_batch_params;

// Each pixel of a block goes to a batch of its own, and pixels beyond the image are the element at `value`; and the
// inverse, which drops those. Loop order: n, h, w, c of the tensor with more batches; one load, if any, then one store, if
// any. Scratch: none.
void dmo_space_to_batch(const dmo_batch_params *params, const void *value, int32_t element_bytes,
                        const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output);
void dmo_batch_to_space(const dmo_batch_params *params, int32_t element_bytes,
                        const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output);

// input [batches, outer, extents.., run], indices [batches, count, axes], output [batches, outer, count, run].
typedef struct {
  int32_t batches, outer, run, count;
  int32_t axes; // how many are indexed, 1 to 5
  int32_t extents[5];
} dmo_gather_size;

// Copies the run at each tuple of indices. An index beyond its axis is taken for the nearest on it: TensorFlow Lite Micro
// loads from anywhere there, or stops.
// Loop order: batch, outer, count; loads the indices, then for each element of the run one load, one store. Where the
// input is loaded depends on the indices: nothing of it may overlap. Scratch: none.
void dmo_gather(const dmo_gather_size *size, int32_t element_bytes, const void *input, const int32_t *indices,
                void *output);

// input [input[0], .., input[axes - 1]], update likewise and on no axis larger. One index of begin_bytes for each axis.
typedef struct {
  int32_t axes;        // 1 to 6
  int32_t begin_bytes; // 4 or 8
  int32_t input[6];
  int32_t update[6];
} dmo_update_slice_size;

// The input with the update in place of the part that begins at `begins`; where that would reach beyond an axis, it begins
// as near as it can.
// Loop order: copies the input, unless output == input; loads the indices; copies the update in ascending order, one load,
// then one store. Where it is stored depends on the indices: nothing may overlap. Scratch: none.
void dmo_update_slice(const dmo_update_slice_size *size, int32_t element_bytes, const void *input, const void *update,
                      const void *begins, void *output);

// `before` as in dmo_pad. reflect is 1 if the outermost elements stand on the mirror and are not repeated, else 0; on no
// axis is there more padding than the input has elements to mirror.
typedef struct {
  int32_t before[4];
  int32_t reflect;
} dmo_mirror_pad_params;

// Surrounds the input by its mirror image.
// Loop order: n, h, w, c of the output; one load, then one store. Scratch: none.
void dmo_mirror_pad(const dmo_mirror_pad_params *params, int32_t element_bytes,
                    const dmo_shape *input_shape, const void *input, const dmo_shape *output_shape, void *output);

// Same elements, another shape: one memcpy of count * element_bytes, left out where output == input. Scratch: none.
void dmo_reshape(int32_t element_bytes, int32_t count, const void *input, void *output);

// The last bytes of a stream, oldest first: moves the buffer's bytes down by input_bytes, which is at most buffer_bytes,
// and stores the input at its end. One memmove within the buffer, one memcpy. The buffer persists from one call to the
// next and overlaps nothing. Scratch: none.
void dmo_circular_buffer(int32_t input_bytes, int32_t buffer_bytes, const int8_t *input, int8_t *buffer);

#ifdef __cplusplus
}
#endif

#endif
