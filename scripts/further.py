#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# further.py: writes tracer/tests/golden/further_*.tflite, which golden.py then runs: one operator of each kind that the
# stand-ins for real models do not have, on random inputs, so that kernels are compared bit by bit.
#
# Requirements: scripts/requirements.txt

import numpy
from operators import REFLECT, SYMMETRIC, Operators
from stand_ins import ACTIVATION, NONE, RELU, SAME, TYPES, VALID, schema


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
    shape, turned_shape = [1, 2, 5, 12, 6], [1, 5, 2, 6, 12]
    wide = net.same("RESHAPE", body, net.integers(*shape), options=schema.ReshapeOptionsT(), shape=shape)
    axes_, options = net.integers(0, 2, 1, 4, 3), schema.TransposeOptionsT()
    wide = net.same("TRANSPOSE", wide, axes_, options=options, shape=turned_shape)
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
    at = axis % len(shape)
    shape[at : at + 1] = indices.shape
    table = net.tensor("int32", indices.shape, data=indices)
    return net.same("GATHER", source, table, options=options, shape=shape)


def resize_nearest(net, source, height, width):
    batches, _, _, depth = net.shape(source)
    options = schema.ResizeNearestNeighborOptionsT()
    size, shape = net.integers(height, width), [batches, height, width, depth]
    return net.same("RESIZE_NEAREST_NEIGHBOR", source, size, options=options, shape=shape)


def batches(kind):
    """Blocks into the batch and back, and what one element serves."""
    net = network("batches", kind)
    # Where TensorFlow Lite Micro pads, it does so with a byte of its memory, which is mostly 0.
    symmetric = (0.02, 0) if kind == "int8" else None
    source = net.activation([2, 4, 6, 3], symmetric)
    spread = batch_space(net, source, "SPACE_TO_BATCH_ND", [2, 3], [[1, 1], [2, 1]], [12, 3, 3, 3])
    outputs = [spread, batch_space(net, source, "SPACE_TO_BATCH_ND", [2, 2], [[0, 0], [0, 0]], [8, 2, 3, 3])]
    outputs.append(batch_space(net, spread, "BATCH_TO_SPACE_ND", [3, 2], [[1, 2], [2, 0]], [2, 6, 4, 3]))
    # A sequence, dilated by 3.
    sequence = net.activation([1, 10, 5], symmetric)
    row = batch_space(net, sequence, "SPACE_TO_BATCH_ND", [3], [[2, 0]], [3, 4, 5])
    outputs += [row, batch_space(net, row, "BATCH_TO_SPACE_ND", [3], [[0, 2]], [1, 10, 5])]
    served = net.activation([3, 1, 5], symmetric)
    for shape in [[3, 4, 5], [2, 3, 4, 5], [2, 2, 3, 1, 5]]:
        options = schema.BroadcastToOptionsT()
        outputs.append(net.same("BROADCAST_TO", served, net.integers(*shape), options=options, shape=shape))
    value = net.tensor(kind, [], symmetric, data=7)
    dims, filled = net.integers(2, 3, 5), net.tensor(kind, [2, 3, 5], symmetric)
    outputs.append(net.operator("FILL", [dims, value], [filled], schema.FillOptionsT()))
    net.write([source, sequence, served], outputs)


def batch_space(net, source, kind, block, around, shape):
    options = schema.SpaceToBatchNDOptionsT() if kind == "SPACE_TO_BATCH_ND" else schema.BatchToSpaceNDOptionsT()
    table = net.tensor("int32", [len(around), 2], data=around)
    return net.same(kind, source, net.integers(*block), table, options=options, shape=shape)


def gathers(kind):
    """Elements at indices that are data, or constants that no slice has."""
    net = network("gathers", kind)
    source, table = net.activation([2, 3, 4, 5]), net.activation([5, 5, 5, 5])
    outputs = [gather(net, source, 1, [2, 0, 0, 1]), gather(net, source, -1, [[4, 1], [1, 3]])]
    # Along each column the index of its greatest element, for each batch its own.
    best = net.extreme(source, "ARG_MAX", 2)
    options = schema.GatherOptionsT()
    options.axis = options.batchDims = 2
    outputs.append(net.same("GATHER", source, best, options=options, shape=[2, 3, 5, 5]))
    # Tuples of four indices below 4, and constant ones of two.
    tuples = net.extreme(source, "ARG_MIN", 3)
    outputs.append(net.same("GATHER_ND", table, tuples, options=schema.GatherNdOptionsT(), shape=[2, 3]))
    pairs_ = net.tensor("int32", [3, 2], data=[[1, 2], [0, 1], [1, 0]])
    outputs.append(net.same("GATHER_ND", source, pairs_, options=schema.GatherNdOptionsT(), shape=[3, 4, 5]))
    words, columns = constant(net, [6, 7]), net.activation([9, 6])
    lookup = net.extreme(columns, "ARG_MAX", 1)
    outputs.append(net.operator("EMBEDDING_LOOKUP", [lookup, words], [net.activation([9, 7])]))
    net.write([source, table, columns], [*outputs, best, tuples, lookup])


def extents(kind):
    """Shapes as data, zeros, parts of tensors that are replaced, and whether all is true."""
    net = network("extents", kind)
    source, part, other = (net.activation(shape) for shape in ([2, 3, 4, 5], [1, 3, 2, 5], [3, 1, 5]))
    columns = net.activation([4, 6])
    shapes = []
    for tensor in [source, other]:
        options, axes_ = schema.ShapeOptionsT(), len(net.shape(tensor))
        options.outType = TYPES["int32"]
        shapes.append(net.operator("SHAPE", [tensor], [net.tensor("int32", [axes_])], options))
    outputs = [*shapes, net.operator("BROADCAST_ARGS", shapes, [net.tensor("int32", [4])])]
    long = [net.tensor("int64", [len(extents_)], data=extents_) for extents_ in ([7, 1, 3, 1, 5], [4, 1, 6, 1])]
    outputs.append(net.operator("BROADCAST_ARGS", long, [net.tensor("int64", [5])]))
    if kind != "int16":
        outputs.append(net.same("ZEROS_LIKE", source, options=schema.ZerosLikeOptionsT()))
    zeros = net.tensor("int32", net.shape(shapes[0]))
    outputs.append(net.operator("ZEROS_LIKE", [shapes[0]], [zeros], schema.ZerosLikeOptionsT()))
    # Some of these are too late for the part.
    indices = net.extreme(columns, "ARG_MAX", 1) if kind != "int16" else net.integers(1, -1, 3, 0)
    long = net.tensor("int64", [4], data=[1, 0, 1, 0])
    outputs += [net.same("DYNAMIC_UPDATE_SLICE", source, part, at) for at in [indices, net.integers(0, 0, 2, 0), long]]
    whole = net.activation([2, 3, 4, 5])
    outputs.append(net.same("DYNAMIC_UPDATE_SLICE", source, whole, indices))
    wide = [cast(net, tensor, "int32") for tensor in (source, part)]
    outputs.append(net.operator("DYNAMIC_UPDATE_SLICE", [*wide, indices], [net.tensor("int32", [2, 3, 4, 5])]))
    if kind != "int16":
        # Nearly all are true.
        value = -6 if kind == "float32" else -110
        least = net.tensor(kind, [1], net.affine(source), data=[value])
        truths = truth(net, "GREATER", source, least)
        for axes_ in [[1, 2], [3], [0, 2], [0, 1, 2, 3]]:
            options = schema.ReducerOptionsT()
            options.keepDims = True
            shape = [1 if axis in axes_ else extent for axis, extent in enumerate(net.shape(source))]
            output = net.tensor("bool", shape)
            outputs.append(net.operator("REDUCE_ALL", [truths, net.integers(*axes_)], [output], options))
    net.write([source, part, other, columns, whole], outputs)


def quotients_int8():
    """Divisors around a zero point that none of them is."""
    net = network("quotients", "int8")
    source, alike = net.activation([1, 3, 4, 6], (0.05, -3)), net.activation([1, 3, 4, 6], (0.05, 9))
    values = net.random.integers(-127, 128, [1, 3, 4, 6])
    divisors = net.tensor("int8", [1, 3, 4, 6], (0.02, -128), data=values)
    row = net.tensor("int8", [6], (0.02, 5), data=[-100, -20, 4, 7, 60, 127])
    relu = schema.DivOptionsT()
    relu.fusedActivationFunction = RELU
    outputs = [
        net.same("DIV", source, divisors, options=schema.DivOptionsT(), affine=(0.03, -10)),
        net.same("DIV", alike, row, options=schema.DivOptionsT(), affine=(0.02, 4)),
        net.same("DIV", source, row, options=relu, affine=(0.03, -20)),
    ]
    net.write([source, alike], outputs)


def quotients_float():
    net = network("quotients", "float32")
    source = net.activation([1, 3, 4, 6])
    divisor = net.tensor("float32", [6], data=[-3.5, -2, -0.7, 1.3, 2, 3])
    whole = net.tensor("float32", [1, 3, 4, 6], data=net.random.uniform(1, 9, [1, 3, 4, 6]))
    outputs = [net.same(name, source, each) for name in ["FLOOR_DIV", "FLOOR_MOD"] for each in [divisor, whole]]
    for padding, shape in [(SAME, [1, 2, 2, 6]), (VALID, [1, 1, 1, 6])]:
        options = schema.Pool2DOptionsT()
        options.padding, options.strideH, options.strideW = padding, 2, 2
        options.filterHeight, options.filterWidth = 2, 3
        outputs.append(net.same("L2_POOL_2D", source, options=options, shape=shape))
    net.write([source], outputs)


def sequences_float():
    """Two layers with a memory, of one filter and of two for each unit."""
    net = network("sequences", "float32")
    source = net.activation([2, 12])
    body = svdf_float(net, source, units=10, rank=1, activation=RELU)
    net.write([source], [body, svdf_float(net, body, units=7, rank=2, activation=NONE)])


def sequences_int16():
    """Two layers with a memory, the second over several batches."""
    net = network("sequences", "int16")
    one, several = net.activation([1, 7, 12]), net.activation([3, 4, 5])
    net.write([one, several], [net.lstm(net.lstm(one, 10), 6), net.lstm(several, 7)])


def svdf_float(net, source, units, rank, activation, memory=6):
    batches, depth = net.shape(source)
    filters = units * rank
    weights = [net.random.uniform(-1, 1, shape) for shape in [[filters, depth], [filters, memory], [units]]]
    constants = [net.tensor("float32", values.shape, data=values) for values in weights]
    state = net.tensor("float32", [batches, filters * memory], variable=True)
    options = schema.SVDFOptionsT()
    options.rank, options.fusedActivationFunction = rank, activation
    return net.operator("SVDF", [source, *constants, state], [net.activation([batches, units])], options)


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


def cast(net, source, kind):
    options = schema.CastOptionsT()
    options.inDataType, options.outDataType = net.graph.tensors[source].type, TYPES[kind]
    output = net.tensor(kind, net.shape(source))
    return net.operator("CAST", [source], [output], options)


def casts():
    """Floats that are whole numbers at the end: what does not fit in an integer is another one on each machine."""
    net = network("casts", "int8")
    source = net.tensor("int8", [3, 37])
    wide = net.tensor("int16", [3, 37])
    real = cast(net, source, "float32")
    outputs = [real, *(cast(net, real, kind) for kind in ["int8", "int16", "int32"])]
    long = cast(net, wide, "int32")
    outputs += [long, cast(net, long, "float32"), cast(net, wide, "int8"), cast(net, long, "int16")]
    net.write([source, wide], outputs)


def functions_int16():
    net = network("functions", "int16")
    source = net.activation([3, 37])
    net.write([source], [net.same("ABS", source, affine=(scale, 0)) for scale in (0.0001, 0.00007)])


RELATIONS = ["EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"]


def truth(net, kind, *sources):
    output = net.tensor("bool", net.shape(sources[0]))
    return net.operator(kind, list(sources), [output])


def constant(net, shape, kind=None, affine=...):
    """Numbers of the network's type, over all of its range."""
    kind = kind or net.kind
    affine = ACTIVATION[kind] if affine is ... else affine
    limits = {"int8": 127, "int16": 32767}
    if kind == "float32":
        data = net.random.uniform(-2, 2, shape)
    else:
        data = net.random.integers(-limits[kind], limits[kind] + 1, shape)
    return net.tensor(kind, shape, affine, data=data)


def pairs(kind):
    """Operators of two elements and more, each on whole tensors and with one that is broadcast."""
    net = network("pairs", kind)
    scale, zero_point = ACTIVATION[kind] or (1, 0)
    coarser = None if kind == "float32" else (scale * 1.7, 0 if kind == "int16" else 9)
    fine = None if kind == "float32" else (scale / 128, 0)
    source, other = net.activation([1, 3, 4, 6]), net.activation([1, 3, 4, 6], coarser)
    alike, row, column = net.activation([1, 3, 4, 6]), constant(net, [6]), constant(net, [1, 3, 1, 1])
    slope_kind = "float32" if kind == "float32" else "int8"
    slopes = constant(net, [1, 1, 6], slope_kind, None if kind == "float32" else (0.004, -20))
    outputs = [net.same("PRELU", source, slopes), net.same("PRELU", source, slopes, affine=coarser)]
    for operands in [(source, alike), (source, row), (column, alike)]:
        outputs += [net.same(name, *operands, shape=[1, 3, 4, 6]) for name in ["MAXIMUM", "MINIMUM"]]
    squares = None if kind == "float32" else (scale * 4, zero_point)
    outputs += [net.same("SQUARED_DIFFERENCE", source, each, affine=squares) for each in [other, row]]
    if kind == "float32":
        # No number is divided by one near 0.
        divisor = net.tensor("float32", [6], data=[-3, -2, -1, 1, 2, 3])
        outputs.append(net.same("DIV", source, divisor, options=schema.DivOptionsT()))
    if kind == "int16":
        makers = {"ADD": schema.AddOptionsT, "SUB": schema.SubOptionsT, "MUL": schema.MulOptionsT}
        for name, options in makers.items():
            affine = fine if name == "MUL" else coarser
            outputs += [net.same(name, source, each, options=options(), affine=affine) for each in [row, column]]
    else:
        truths = [truth(net, name, source, other) for name in RELATIONS]
        truths += [truth(net, name, source, row) for name in RELATIONS]
        both = [truth(net, name, truths[2], truths[8]) for name in ["LOGICAL_AND", "LOGICAL_OR"]]
        outputs += [*truths, *both, truth(net, "LOGICAL_NOT", truths[3])]
        outputs.append(net.same("SELECT_V2", truths[4], source, alike, affine=net.affine(source)))
        outputs.append(net.same("SELECT_V2", both[0], source, row, affine=net.affine(source)))
        options = schema.AddNOptionsT()
        outputs.append(net.same("ADD_N", source, alike, source, options=options, affine=coarser))
    net.write([source, other, alike], outputs)


def axes(kind):
    """Operators along an axis."""
    net = network("axes", kind)
    source = net.activation([2, 3, 4, 5])
    outputs = [net.extreme(source, name, axis) for name in ["ARG_MAX", "ARG_MIN"] for axis in [0, 2, 3]]
    modes = [(False, False), (True, False), (False, True), (True, True)]
    outputs += [net.cumsum(source, axis, *mode) for axis in [1, -1] for mode in modes]
    unit = {"int8": (1 / 128, 0), "float32": None}[kind]
    outputs.append(net.same("L2_NORMALIZATION", source, options=schema.L2NormOptionsT(), affine=unit))
    if kind == "int8":
        # In floats the C library decides the last bit.
        outputs.append(net.same("LOG_SOFTMAX", source, options=schema.LogSoftmaxOptionsT(), affine=(1 / 16, 127)))
        outputs.append(net.same("RELU6", source))
    for name in ["REDUCE_MAX", "REDUCE_MIN", "SUM"]:
        affine = (0.09, 5) if kind == "int8" and name == "SUM" else net.affine(source)
        outputs += [reduce(net, source, name, axes_, affine) for axes_ in [[1, 2], [3], [0, 2]]]
    net.write([source], outputs)


def reduce(net, source, kind, axes_, affine):
    options = schema.ReducerOptionsT()
    options.keepDims = True
    shape = [1 if axis in axes_ else extent for axis, extent in enumerate(net.shape(source))]
    return net.same(kind, source, net.integers(*axes_), options=options, affine=affine, shape=shape)


def products(kind):
    """Products of matrices, as they are and transposed, and with one matrix for all batches."""
    net = network("products", kind)
    outputs, sources = [], []
    affine = {"int8": (0.5, 4), "int16": (0.002, 0), "float32": None}[kind]
    for left_transposed, right_transposed, right_batches in [
        (False, False, 3), (False, True, 3), (True, False, 3), (True, True, 1), (False, True, 1),
    ]:
        options = schema.BatchMatMulOptionsT()
        options.adjX, options.adjY = left_transposed, right_transposed
        left = net.activation([3, 7, 4] if left_transposed else [3, 4, 7])
        right = net.activation([right_batches, 5, 7] if right_transposed else [right_batches, 7, 5])
        sources += [left, right]
        outputs.append(net.same("BATCH_MATMUL", left, right, options=options, affine=affine, shape=[3, 4, 5]))
    net.write(sources, outputs)


def plain(kind):
    """What real models have most of, alone: parts of tensors, padding, means, arithmetic, activations."""
    net = network("plain", kind)
    source = net.activation([2, 4, 6, 5])
    scale, zero_point = ACTIVATION[kind] or (1, 0)
    coarser = None if kind == "float32" else (scale * 1.7, 0 if kind == "int16" else 9)
    outputs = slices(net, source) + [pad(net, source, value) for value in [None, 7]]
    outputs.append(net.concatenation(outputs[0], outputs[0]))
    outputs += [reduce(net, source, "MEAN", axes_, coarser) for axes_ in [[1, 2], [3], [2, 3]]]
    outputs += [net.same("RELU", source, affine=affine) for affine in [net.affine(source), coarser]]
    if kind != "int16":
        outputs.append(net.same("RELU6", source))
        outputs += [resize_bilinear(net, source, *modes) for modes in [(False, False), (True, False), (False, True)]]
    makers = {"ADD": schema.AddOptionsT, "SUB": schema.SubOptionsT, "MUL": schema.MulOptionsT}
    row, other = constant(net, [5]), net.activation([2, 4, 6, 5])
    for name, maker in makers.items():
        for operand, activation in [(row, NONE), (other, RELU)]:
            options = maker()
            options.fusedActivationFunction = activation
            outputs.append(net.same(name, source, operand, options=options, affine=coarser))
    if kind == "int8":
        outputs.append(net.same("LOGISTIC", source, affine=(1 / 256, -128)))
        outputs.append(net.same("TANH", source, affine=(1 / 128, 0)))
    net.write([source, other], outputs)


def slices(net, source, kind=None):
    """A slice, and the parts that a tensor is split into, evenly and not."""
    kind, affine = kind or net.kind, net.affine(source)
    batches_, height, width, depth = net.shape(source)
    tables = [net.integers(0, 1, 2, 1), net.integers(-1, 2, 3, depth - 2)]
    output = net.tensor(kind, [batches_, 2, 3, depth - 2], affine)
    outputs = [net.operator("SLICE", [source, *tables], [output], schema.SliceOptionsT())]
    options = schema.SplitOptionsT()
    options.numSplits = 2
    halves = [net.tensor(kind, [batches_, height // 2, width, depth], affine) for _ in range(2)]
    net.operator("SPLIT", [net.tensor("int32", [], data=1), source], halves, options)
    options = schema.SplitVOptionsT()
    options.numSplits = 3
    parts = [net.tensor(kind, [batches_, height, size, depth], affine) for size in (1, 3, width - 4)]
    sizes, axis = net.integers(1, 3, width - 4), net.tensor("int32", [], data=2)
    net.operator("SPLIT_V", [source, sizes, axis], parts, options)
    return [*outputs, *halves, *parts]


def pad(net, source, value, kind=None):
    kind, affine = kind or net.kind, net.affine(source)
    paddings = [[0, 1], [1, 0], [2, 1], [0, 2]]
    shape = [extent + sum(around) for extent, around in zip(net.shape(source), paddings, strict=True)]
    table, output = net.tensor("int32", [4, 2], data=paddings), net.tensor(kind, shape, affine)
    if value is None:
        return net.operator("PAD", [source, table], [output], schema.PadOptionsT())
    value = net.tensor(kind, [1], affine, data=[value])
    return net.operator("PADV2", [source, table, value], [output], schema.PadV2OptionsT())


def resize_bilinear(net, source, align_corners, half_pixel_centers):
    options = schema.ResizeBilinearOptionsT()
    options.alignCorners, options.halfPixelCenters = align_corners, half_pixel_centers
    batches_, _, _, depth = net.shape(source)
    return net.same("RESIZE_BILINEAR", source, net.integers(7, 9), options=options, shape=[batches_, 7, 9, depth])


def broadcast_products(kind):
    """Products of matrices of which some serve several batches, and a constant one."""
    net = network("broadcast", kind)
    outputs, sources = [], []
    affine = {"int8": (0.5, 4), "int16": (0.002, 0), "float32": None}[kind]
    for left_batches, right_batches, right_transposed in [
        ([2, 3], [2, 1], False), ([2, 1], [1, 3], True), ([3], [2, 1], False), ([2, 1, 3], [1, 2, 3], True),
        ([2, 1, 2], [1, 3, 1], False),
    ]:
        options = schema.BatchMatMulOptionsT()
        options.adjY = right_transposed
        left = net.activation([*left_batches, 4, 7])
        right = net.activation([*right_batches, 5, 7] if right_transposed else [*right_batches, 7, 5])
        batches_ = [int(extent) for extent in numpy.broadcast_shapes(tuple(left_batches), tuple(right_batches))]
        sources += [left, right]
        output = net.same("BATCH_MATMUL", left, right, options=options, affine=affine, shape=[*batches_, 4, 5])
        outputs.append(output)
    right = constant(net, [2, 1, 7, 5])
    options = schema.BatchMatMulOptionsT()
    outputs.append(net.same("BATCH_MATMUL", sources[0], right, options=options, affine=affine, shape=[2, 3, 4, 5]))
    net.write(sources, outputs)


def integers():
    """Integers that are no numbers on a scale, and from scales to these and back."""
    net = network("integers", "int8")
    narrow, wide = net.activation([2, 4, 6, 5]), net.tensor("int16", [2, 4, 6, 5])
    byte, fine = net.tensor("uint8", [3, 7], (0.04, 120)), net.tensor("int16", [3, 7], (0.0003, 0))
    small, large = cast(net, narrow, "int32"), cast(net, wide, "int32")
    row = net.tensor("int32", [5], data=[-30000, -7, 1, 3, 20000])

    def same(name, *sources, options=None, kind="int32"):
        output = net.tensor(kind, net.shape(sources[0]))
        return net.operator(name, list(sources), [output], options)

    outputs = []
    makers = {"ADD": schema.AddOptionsT, "SUB": schema.SubOptionsT, "MUL": schema.MulOptionsT}
    makers["DIV"] = schema.DivOptionsT
    for name, maker in makers.items():
        outputs.append(same(name, large, row, options=maker()))
        if name != "DIV":
            outputs.append(same(name, large, small, options=maker()))
        if name != "ADD":
            options = maker()
            options.fusedActivationFunction = RELU
            outputs.append(same(name, large, row, options=options))
    outputs += [same(name, small, each) for name in ["MAXIMUM", "MINIMUM"] for each in [row, large]]
    whole = net.tensor("int32", [2, 4, 6, 5], data=net.random.integers(-20000, 20000, [2, 4, 6, 5]))
    outputs += [same("SQUARED_DIFFERENCE", small, each) for each in [row, whole]]
    truths = [same(name, small, large, kind="bool") for name in RELATIONS]
    outputs += [*truths, *(same(name, truths[0], truths[2], kind="bool") for name in ["EQUAL", "NOT_EQUAL"])]
    # Of 64 bits there are constants only.
    values = net.random.integers(-(2**40), 2**40, [2, 3, 4])
    long = [net.tensor("int64", [2, 3, 4], data=values), net.tensor("int64", [4], data=values[0, 0])]
    outputs += [same(name, *long, kind="int64") for name in ["MAXIMUM", "MINIMUM"]]
    outputs += [same(name, *long, kind="bool") for name in RELATIONS]
    # Scales.
    for source in [narrow, fine]:
        scale = net.affine(source)[0] / 300
        output = net.tensor("int32", net.shape(source), (scale, 0))
        outputs.append(net.operator("QUANTIZE", [source], [output], schema.QuantizeOptionsT()))
        for kind, affine in [("int8", (0.03, 4)), ("int16", (0.0005, 0))]:
            back = net.tensor(kind, net.shape(source), affine)
            outputs.append(net.operator("QUANTIZE", [output], [back], schema.QuantizeOptionsT()))
    for source in [narrow, byte, fine]:
        output = net.tensor("float32", net.shape(source))
        outputs.append(net.operator("DEQUANTIZE", [source], [output], schema.DequantizeOptionsT()))
    net.write([narrow, wide, byte, fine], outputs)


def types():
    """What moves elements, of 16 and 32 bits and truths."""
    net = network("types", "int16")
    source = net.activation([1, 4, 6, 4])
    wide = cast(net, source, "int32")
    truths = truth(net, "GREATER", wide, net.tensor("int32", [4], data=[-20000, -300, 100, 15000]))
    axes_, options = net.integers(0, 3, 1, 2), schema.TransposeOptionsT()
    outputs = [net.same("TRANSPOSE", source, axes_, options=options, shape=[1, 4, 4, 6])]
    outputs.append(resize_nearest(net, source, 7, 5))
    for kind, body in [("int16", source), ("int32", wide), ("bool", truths)]:
        affine = net.affine(body)

        def like(name, *sources, shape=None, options=None, kind=kind, body=body, affine=affine):
            output = net.tensor(kind, shape or net.shape(body), affine)
            return net.operator(name, list(sources), [output], options)

        tables = [net.integers(*numbers) for numbers in ([0, 1, 5, 0], [1, 4, 0, 4], [1, 2, -2, 1])]
        outputs.append(like("STRIDED_SLICE", body, *tables, shape=[1, 2, 3, 4], options=schema.StridedSliceOptionsT()))
        flat = like("RESHAPE", body, net.integers(4, 1, 24), shape=[4, 1, 24], options=schema.ReshapeOptionsT())
        squeeze = schema.SqueezeOptionsT()
        squeeze.squeezeDims = [1]
        flat = like("SQUEEZE", flat, shape=[4, 24], options=squeeze)
        joined = schema.ConcatenationOptionsT()
        joined.axis = 1
        outputs += [flat, like("CONCATENATION", flat, flat, shape=[4, 48], options=joined)]
        outputs.append(like("REVERSE_V2", body, net.integers(2), options=schema.ReverseV2OptionsT()))
        if kind == "bool":
            continue
        stacked = schema.PackOptionsT()
        stacked.valuesCount, stacked.axis = 2, 1
        pair = like("PACK", flat, flat, shape=[4, 2, 24], options=stacked)
        unstacked = schema.UnpackOptionsT()
        unstacked.num, unstacked.axis = 4, 0
        rows = [net.tensor(kind, [2, 24], affine) for _ in range(4)]
        net.operator("UNPACK", [pair], rows, unstacked)
        outputs += rows
        row = like("STRIDED_SLICE", flat, *(net.integers(*numbers) for numbers in ([0, 0], [1, 24], [1, 1])),
                   shape=[1, 24], options=schema.StridedSliceOptionsT())
        options = schema.BroadcastToOptionsT()
        outputs.append(like("BROADCAST_TO", row, net.integers(3, 24), shape=[3, 24], options=options))
        if kind == "int16":
            options = schema.ExpandDimsOptionsT()
            outputs.append(like("EXPAND_DIMS", flat, net.integers(1), shape=[4, 1, 24], options=options))
        else:
            value, filled = net.tensor(kind, [], data=-123456), net.tensor(kind, [3, 5])
            outputs.append(net.operator("FILL", [net.integers(3, 5), value], [filled], schema.FillOptionsT()))
            outputs += [*slices(net, body, kind), *(pad(net, body, value, kind) for value in [None, -70000])]
    net.write([source], outputs)


def curves_int16():
    net = network("curves", "int16")
    sources = [net.activation([1, 64], (scale, 0)) for scale in (2**-12, 2**-11, 0.0003)]
    outputs = [net.same(name, source, affine=(2**-15, 0)) for name in ["LOGISTIC", "TANH"] for source in sources]
    outputs.append(reduce(net, net.activation([1, 3, 4, 5]), "SUM", [1, 2], (0.0005, 0)))
    source = net.graph.operators[-1].inputs[0]
    net.write([*sources, source], outputs)


def main():
    for kind in ["int8", "float32"]:
        moves(kind)
        batches(kind)
        gathers(kind)
    for kind in ["int8", "int16", "float32"]:
        extents(kind)
    quotients_int8()
    quotients_float()
    sequences_float()
    sequences_int16()
    functions_float()
    functions_int8()
    functions_int16()
    casts()
    for kind in ["int8", "int16", "float32"]:
        pairs(kind)
    for kind in ["int8", "float32"]:
        axes(kind)
    curves_int16()
    integers()
    types()
    for kind in ["int8", "int16", "float32"]:
        plain(kind)
        broadcast_products(kind)
    for kind in ["int8", "int16", "float32"]:
        products(kind)


if __name__ == "__main__":
    main()
