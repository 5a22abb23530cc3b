#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# further.py: writes tracer/tests/golden/further_*.tflite, which golden.py then runs: one operator of each kind that the
# stand-ins for real models do not have, on random inputs, so that kernels are compared bit by bit.
#
# Requirements: scripts/requirements.txt

import numpy
from operators import REFLECT, SYMMETRIC, Operators
from stand_ins import ACTIVATION, TYPES, schema


def network(name, kind):
    return Operators(f"further_{name}_{kind}", kind)


def moves(kind):
    """What moves elements, most of it without changing them."""
    net = network("moves", kind)
    source = net.activation([1, 4, 6, 4])
    body = net.blocks(net.blocks(source, into_depth=True, block=2), into_depth=False, block=2)
    body = net.mirror_pad(body, [[0, 0], [1, 2], [2, 1], [0, 1]], REFLECT)
    body = net.mirror_pad(body, [[0, 0], [2, 1], [0, 3], [1, 0]], SYMMETRIC)
    # [1, 10, 12, 6]
    parts = [slice_of(net, body, begin, strides, shape) for begin, strides, shape in [
        ([0, 1, 2, 1], [1, 2, 3, 1], [1, 4, 3, 4]),
        ([0, 9, 0, 5], [1, -2, 4, -1], [1, 5, 3, 6]),
    ]]
    # The third row, without its axis; the batch too.
    row = slice_of(net, body, [0, 2, 0, 0], [1, 1, 1, 1], [1, 1, 12, 6], shrink=[0, 1])
    one, column = gather(net, body, 1, [7, 4, 1]), gather(net, body, 2, 5)
    turned = net.same("REVERSE_V2", body, net.integers(2))
    grown = net.same("EXPAND_DIMS", row, net.integers(1), options=schema.ExpandDimsOptionsT(), shape=[12, 1, 6])
    options = schema.SqueezeOptionsT()
    options.squeezeDims = [1]
    back = net.same("SQUEEZE", grown, options=options, shape=[12, 6])
    stacked = net.pack(row, back, axis=1)
    rows = net.unpack(stacked, 1)
    wide = net.same("RESHAPE", body, net.integers(1, 2, 5, 12, 6), options=schema.ReshapeOptionsT(), shape=[1, 2, 5, 12, 6])
    wide = net.same("TRANSPOSE", wide, net.integers(0, 2, 1, 4, 3), options=schema.TransposeOptionsT(), shape=[1, 5, 2, 6, 12])
    larger = resize_nearest(net, body, 13, 7)
    net.write([source], [*parts, one, column, turned, *rows, wide, larger, resize_nearest(net, body, 20, 24)])


def slice_of(net, source, begin, strides, shape, shrink=()):
    options = schema.StridedSliceOptionsT()
    options.shrinkAxisMask = sum(1 << axis for axis in shrink)
    end = [first + step * count for first, step, count in zip(begin, strides, shape, strict=True)]
    # An end before the first element is said by the mask.
    options.endMask = sum(1 << axis for axis, index in enumerate(end) if index < 0)
    tables = [net.integers(*numbers) for numbers in (begin, [max(index, 0) for index in end], strides)]
    kept = [count for axis, count in enumerate(shape) if axis not in shrink]
    return net.same("STRIDED_SLICE", source, *tables, options=options, shape=kept)


def gather(net, source, axis, indices):
    options = schema.GatherOptionsT()
    options.axis = axis
    indices = numpy.array(indices, dtype="int32")
    shape = list(net.shape(source))
    shape[axis : axis + 1] = indices.shape
    table = net.tensor("int32", indices.shape, data=indices)
    return net.same("GATHER", source, table, options=options, shape=shape)


def resize_nearest(net, source, height, width):
    batches, _, _, depth = net.shape(source)
    options = schema.ResizeNearestNeighborOptionsT()
    return net.same(
        "RESIZE_NEAREST_NEIGHBOR", source, net.integers(height, width), options=options, shape=[batches, height, width, depth]
    )


def functions_float():
    """Without those whose results the C library decides."""
    net = network("functions", "float32")
    source = net.activation([3, 37])
    absolute = net.same("ABS", source)
    results = [net.same(kind, source) for kind in ["NEG", "SQUARE", "FLOOR", "CEIL", "ROUND"]]
    roots = [net.same(kind, absolute) for kind in ["SQRT", "RSQRT"]]
    net.write([source], [absolute, *results, *roots])


def functions_int8():
    net = network("functions", "int8")
    source = net.activation([3, 37])
    absolute = [net.same("ABS", source, affine=affine) for affine in [ACTIVATION["int8"], (0.01, -128), (0.05, 3)]]
    elu = [net.same("ELU", source, affine=affine) for affine in [(0.02, 0), (0.013, -90)]]
    # Roots of no number below 0.
    positive = net.tensor("int8", [3, 37], (0.03, -128))
    roots = [net.same("RSQRT", positive, affine=affine) for affine in [(0.05, -128), (0.02, -100)]]
    net.write([source, positive], absolute + elu + roots)


def functions_int16():
    net = network("functions", "int16")
    source = net.activation([3, 37])
    net.write([source], [net.same("ABS", source, affine=(scale, 0)) for scale in (0.0001, 0.00007)])


def main():
    for kind in ["int8", "float32"]:
        moves(kind)
    functions_float()
    functions_int8()
    functions_int16()


if __name__ == "__main__":
    main()
