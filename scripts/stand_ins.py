#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# stand_ins.py: writes tracer/tests/golden/stand_in_*.tflite, which golden.py then runs: small networks that have the
# operators, types and branches of the real models that tests look for outside of the repository, so that a clean clone
# checks bit-exactness, mutated plans and hand-over without them. Weights are random, of a seed for each network, and
# scaled so that results are spread over their type: a byte that is lost shows.
#
# Requirements: scripts/requirements.txt

import pathlib
import zlib

import flatbuffers
import numpy
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tracer/tests/golden"
SAME, VALID = 0, 1
NONE, RELU, TANH = 0, 1, 4

TYPES = {
    "int4": schema.TensorType.INT4,
    "int8": schema.TensorType.INT8,
    "uint8": schema.TensorType.UINT8,
    "int16": schema.TensorType.INT16,
    "int32": schema.TensorType.INT32,
    "int64": schema.TensorType.INT64,
    "float32": schema.TensorType.FLOAT32,
}
# Scale and zero point of activations, and of the output of a softmax.
ACTIVATION = {"int8": (0.02, -3), "uint8": (0.02, 125), "int16": (0.0001, 0), "float32": None}
PROBABILITY = {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0), "float32": None}
# Types of weights and biases.
WEIGHT = {"int8": "int8", "uint8": "uint8", "int16": "int8", "float32": "float32"}
BIAS = {"int8": "int32", "uint8": "int32", "int16": "int64", "float32": "float32"}
# The greatest weight of an integer type, and the scale of weights for one product an output, where all stored numbers
# are as likely.
GREATEST = {"int4": 7, "int8": 127, "uint8": 127}
SPREAD = {"int4": 0.19, "int8": 0.011, "uint8": 0.011}


def stored(kind, values):
    """The bytes of a constant: of 4 bits two in each, the first in the lower half."""
    if kind != "int4":
        return numpy.asarray(values, dtype=kind).tobytes()
    halves = numpy.asarray(values, dtype="int8").flatten().astype("uint8") & 0xF
    halves = numpy.append(halves, numpy.zeros(len(halves) % 2, dtype="uint8"))
    return (halves[0::2] | halves[1::2] << 4).astype("uint8").tobytes()


class Net:
    """A network under construction. Shapes are NHWC."""

    def __init__(self, name, kind, weight=None):
        self.name, self.kind, self.weight = name, kind, weight or WEIGHT[kind]
        self.random = numpy.random.default_rng(zlib.crc32(name.encode()))
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators = [], []
        self.buffers, self.codes = [schema.BufferT()], []
        # Subgraphs that operators run.
        self.others = []

    def tensor(self, kind, shape, affine=None, scales=None, axis=0, data=None, variable=False):
        tensor = schema.TensorT()
        tensor.name = f"{self.name}_{len(self.graph.tensors)}"
        tensor.type, tensor.shape, tensor.isVariable, tensor.buffer = TYPES[kind], list(shape), variable, 0
        if affine is not None or scales is not None:
            tensor.quantization = schema.QuantizationParametersT()
            scales = [affine[0]] if scales is None else scales
            tensor.quantization.scale = [float(scale) for scale in scales]
            tensor.quantization.zeroPoint = [affine[1] if affine else 0] * len(scales)
            tensor.quantization.quantizedDimension = axis
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = numpy.frombuffer(stored(kind, data), dtype=numpy.uint8)
            tensor.buffer = len(self.buffers)
            self.buffers.append(buffer)
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def activation(self, shape, affine=...):
        return self.tensor(self.kind, shape, ACTIVATION[self.kind] if affine is ... else affine)

    def shape(self, index):
        return self.graph.tensors[index].shape

    def affine(self, index):
        quantization = self.graph.tensors[index].quantization
        return quantization and (quantization.scale[0], quantization.zeroPoint[0])

    def integers(self, *values):
        return self.tensor("int32", [len(values)], data=values)

    def operator(self, kind, inputs, outputs, options=None, intermediates=None):
        code = getattr(schema.BuiltinOperator, kind)
        if code not in self.codes:
            self.codes.append(code)
        operator = schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = self.codes.index(code), inputs, outputs
        operator.intermediates = intermediates
        if options is not None:
            operator.builtinOptions = options
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, type(options).__name__[:-1])
        self.graph.operators.append(operator)
        return outputs[0] if outputs else None

    def weights(self, shape, input_index, output, fan_in, axis=None):
        """A filter with a scale for each index of an axis, or one for all, and its bias."""
        channels = shape[0] if axis is None else shape[axis]
        if self.kind == "float32":
            values = self.random.uniform(-1, 1, shape) * 1.7 / fan_in**0.5
            bias = self.random.uniform(-0.3, 0.3, channels)
            return [self.tensor("float32", shape, data=values), self.tensor("float32", [channels], data=bias)]
        unit = self.affine(output)[0] / self.affine(input_index)[0] * SPREAD[self.weight] / fan_in**0.5
        # Kernels for uint8 have one scale, and weights around a zero point.
        single = axis is None or self.kind == "uint8"
        scales = unit * self.random.uniform(1, 2, 1 if single else channels)
        greatest = GREATEST[self.weight]
        values = self.random.integers(-greatest, greatest + 1, shape)
        zero_point = 0
        if self.kind == "uint8":
            values, zero_point = values + 128, 128
        filter_ = self.tensor(
            self.weight, shape, affine=(scales[0], zero_point), scales=scales, axis=axis or 0, data=values
        )
        large = (3000 if self.kind != "int16" else 900_000) * greatest // 127
        bias = self.random.integers(-large, large, channels)
        scales = scales * self.affine(input_index)[0]
        return [filter_, self.tensor(BIAS[self.kind], [channels], scales=scales, data=bias)]

    def places(self, extents, kernel, stride, padding):
        if padding == VALID:
            extents = [extent - kernel + 1 for extent in extents]
        return [-(-extent // stride) for extent in extents]

    def conv(self, source, channels, kernel=1, stride=1, padding=SAME, activation=RELU, groups=1):
        batches, height, width, depth = self.shape(source)
        output = self.activation([batches, *self.places([height, width], kernel, stride, padding), channels])
        depth //= groups
        weights = self.weights([channels, kernel, kernel, depth], source, output, kernel**2 * depth, axis=0)
        options = schema.Conv2DOptionsT()
        options.padding, options.strideW, options.strideH = padding, stride, stride
        options.dilationWFactor = options.dilationHFactor = 1
        options.fusedActivationFunction = activation
        return self.operator("CONV_2D", [source, *weights], [output], options)

    def depthwise(self, source, kernel=3, stride=1, multiplier=1, activation=RELU):
        batches, height, width, depth = self.shape(source)
        channels = depth * multiplier
        output = self.activation([batches, *self.places([height, width], kernel, stride, SAME), channels])
        weights = self.weights([1, kernel, kernel, channels], source, output, kernel**2, axis=3)
        options = schema.DepthwiseConv2DOptionsT()
        options.padding, options.strideW, options.strideH = SAME, stride, stride
        options.depthMultiplier, options.fusedActivationFunction = multiplier, activation
        options.dilationWFactor = options.dilationHFactor = 1
        return self.operator("DEPTHWISE_CONV_2D", [source, *weights], [output], options)

    def rows(self, source, kernel):
        """A depthwise convolution over rows, without padding."""
        batches, height, width, depth = self.shape(source)
        output = self.activation([batches, height - kernel + 1, width, depth])
        weights = self.weights([1, kernel, 1, depth], source, output, kernel, axis=3)
        options = schema.DepthwiseConv2DOptionsT()
        options.padding, options.strideW, options.strideH = VALID, 1, 1
        options.depthMultiplier, options.fusedActivationFunction = 1, RELU
        options.dilationWFactor = options.dilationHFactor = 1
        return self.operator("DEPTHWISE_CONV_2D", [source, *weights], [output], options)

    def transposed_conv(self, source, channels, kernel=3, stride=2):
        batches, height, width, depth = self.shape(source)
        output = self.activation([batches, height * stride, width * stride, channels])
        weights = self.weights([channels, kernel, kernel, depth], source, output, 2 * depth, axis=0)
        options = schema.TransposeConvOptionsT()
        options.padding, options.strideW, options.strideH = SAME, stride, stride
        shape = self.integers(*self.shape(output))
        return self.operator("TRANSPOSE_CONV", [shape, weights[0], source, weights[1]], [output], options)

    def pool(self, source, kind, kernel, stride, padding=VALID):
        batches, height, width, depth = self.shape(source)
        places = self.places([height, width], kernel, stride, padding)
        output = self.activation([batches, *places, depth], self.affine(source))
        options = schema.Pool2DOptionsT()
        options.padding, options.strideW, options.strideH = padding, stride, stride
        options.filterWidth = options.filterHeight = kernel
        return self.operator(kind, [source], [output], options)

    def add(self, one, other):
        output = self.activation(self.shape(one))
        return self.operator("ADD", [one, other], [output], schema.AddOptionsT())

    def concatenation(self, *sources):
        shape = list(self.shape(sources[0]))
        shape[-1] = sum(self.shape(source)[-1] for source in sources)
        options = schema.ConcatenationOptionsT()
        options.axis = len(shape) - 1
        output = self.activation(shape, self.affine(sources[0]))
        return self.operator("CONCATENATION", list(sources), [output], options)

    def pad(self, source, before, after):
        batches, height, width, depth = self.shape(source)
        more = before + after
        output = self.activation([batches, height + more, width + more, depth], self.affine(source))
        rows = [[0, 0], [before, after], [before, after], [0, 0]]
        paddings = self.tensor("int32", [4, 2], data=rows)
        return self.operator("PAD", [source, paddings], [output], schema.PadOptionsT())

    def reshape(self, source, *shape):
        options = schema.ReshapeOptionsT()
        options.newShape = list(shape)
        output = self.activation(shape, self.affine(source))
        return self.operator("RESHAPE", [source, self.integers(*shape)], [output], options)

    def dense(self, source, units, activation=NONE, axis=None):
        *outer, depth = self.shape(source)
        output = self.activation([*outer, units])
        weights = self.weights([units, depth], source, output, depth, axis)
        options = schema.FullyConnectedOptionsT()
        options.fusedActivationFunction, options.keepNumDims = activation, len(outer) > 1
        return self.operator("FULLY_CONNECTED", [source, *weights], [output], options)

    def quantize(self, source, kind, affine):
        output = self.tensor(kind, self.shape(source), affine)
        return self.operator("QUANTIZE", [source], [output], schema.QuantizeOptionsT())

    def dequantize(self, source):
        return self.operator("DEQUANTIZE", [source], [self.tensor("float32", self.shape(source))])

    def softmax(self, source):
        options = schema.SoftmaxOptionsT()
        options.beta = 1.0
        output = self.activation(self.shape(source), PROBABILITY[self.kind])
        return self.operator("SOFTMAX", [source], [output], options)

    def svdf(self, source, units, memory=6):
        batches, depth = self.shape(source)
        # Of a rectified one: the kernels take no activation but by the range of the type.
        output = self.activation([batches, units], (ACTIVATION[self.kind][0], -128))
        feature, state = 0.01, self.affine(source)[0] * 0.01 * 5476 * depth**0.5 / 8000
        time = self.affine(output)[0] * 60 / (state * 8000 * 19_000 * memory**0.5)
        random = self.random.integers
        inputs = [
            source,
            self.tensor("int8", [units, depth], (feature, 0), data=random(-127, 128, [units, depth])),
            self.tensor("int16", [units, memory], (time, 0), data=random(-32767, 32768, [units, memory])),
            self.tensor("int32", [units], (state * time, 0), data=random(-3000, 3000, units)),
            self.tensor("int16", [batches, units * memory], (state, 0), variable=True),
        ]
        options = schema.SVDFOptionsT()
        options.rank, options.fusedActivationFunction = 1, RELU
        return self.operator("SVDF", inputs, [output], options)

    def lstm(self, source, units):
        batches, times, depth = self.shape(source)
        hidden, finer = ((1 / 128, -4), 1) if self.kind == "int8" else ((1 / 32768, 0), 256)
        output = self.activation([batches, times, units], hidden)
        inputs = [-1] * 24
        inputs[0] = source
        for gate in range(4):
            scales = {}
            for first, columns, scale in [(1, depth, self.affine(source)[0]), (5, units, hidden[0])]:
                scales[first] = 1.5 / (scale * finer * 5476 * columns**0.5)
                values = self.random.integers(-127, 128, [units, columns])
                inputs[first + gate] = self.tensor("int8", [units, columns], (scales[first], 0), data=values)
            bias = self.random.integers(-3000, 3000, units) * finer
            scale = self.affine(source)[0] * scales[1]
            inputs[12 + gate] = self.tensor(BIAS[self.kind], [units], (scale, 0), data=bias)
        inputs[18] = self.tensor(self.kind, [batches, units], hidden, variable=True)
        inputs[19] = self.tensor("int16", [batches, units], (2**-11, 0), variable=True)
        options = schema.UnidirectionalSequenceLSTMOptionsT()
        options.fusedActivationFunction = TANH
        # TensorFlow Lite wants them, of which it reads the scale of the last.
        between = [self.tensor("int16", [0], (2**-12, 0)) for _ in range(4)] + [self.tensor(self.kind, [0], hidden)]
        return self.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [output], options, between)

    def code(self, index, code):
        """What else is to be said of an entry of the table of operators."""

    def write(self, inputs, outputs):
        self.graph.inputs, self.graph.outputs = inputs, outputs
        model = schema.ModelT()
        model.version, model.description, model.operatorCodes = 3, self.name, []
        for index, number in enumerate(self.codes):
            code = schema.OperatorCodeT()
            # Codes above 126 have one field only.
            code.builtinCode, code.deprecatedBuiltinCode = number, min(number, 127)
            # TensorFlow Lite has one operator without a first version.
            code.version = 2 if number == schema.BuiltinOperator.BROADCAST_TO else 1
            self.code(index, code)
            model.operatorCodes.append(code)
        model.subgraphs, model.buffers = [self.graph, *self.others], self.buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        (GOLDEN / f"{self.name}.tflite").write_bytes(builder.Output())


def vision(kind):
    """A stem, separable convolutions, a residual block, a classifier."""
    net = Net(f"stand_in_vision_{kind}", kind)
    source = net.activation([1, 18, 14, 3])
    stem = net.conv(source, 4, kernel=3, stride=2)
    body = net.conv(net.depthwise(stem), 8)
    body = net.conv(net.depthwise(body, stride=2), 8)
    left = net.conv(net.conv(body, 12, kernel=3), 8, activation=NONE)
    body = net.add(left, body)
    body = net.pool(body, "AVERAGE_POOL_2D", 4, 4, padding=SAME)
    batches, height, width, depth = net.shape(body)
    logits = net.dense(net.reshape(body, 1, height * width * depth), 5)
    # The exponential of floats is the C library's: newlib and glibc differ in the last bit.
    net.write([source], [logits if kind == "float32" else net.softmax(logits)])


def small_weights():
    """Weights of 4 bits: odd numbers of them, groups, a depth multiplier, several batches of a layer."""
    net = Net("stand_in_weights_int4", "int8", weight="int4")
    source = net.activation([1, 9, 7, 3])
    body = net.conv(source, 5, kernel=3)
    body = net.conv(net.depthwise(body, stride=2), 8)
    body = net.depthwise(net.conv(body, 6, kernel=3, groups=2), multiplier=2)
    body = net.dense(net.reshape(body, 4, 60), 7, activation=RELU)
    net.write([source], [net.softmax(net.dense(net.reshape(body, 1, 28), 5))])


def upsampling(kind):
    """Down with a pool, up with a transposed convolution, and a connection around."""
    net = Net(f"stand_in_upsampling_{kind}", kind)
    source = net.activation([1, 8, 8, 4])
    top = net.conv(source, 4, kernel=3)
    low = net.conv(net.pool(top, "MAX_POOL_2D", 2, 2), 6)
    up = net.transposed_conv(low, 4)
    body = up if kind == "int16" else net.concatenation(top, up)
    net.write([source], [net.conv(body, 2, activation=NONE)])


def keyword():
    net = Net("stand_in_keyword_int8", "int8")
    source = net.activation([1, 24])
    body = net.dense(net.svdf(source, 10), 12, activation=RELU)
    net.write([source], [net.softmax(net.dense(net.svdf(body, 8), 6))])


def sequence():
    net = Net("stand_in_sequence_int8", "int8")
    source = net.activation([1, 6, 10])
    body = net.lstm(source, 8)
    flat = net.reshape(body, 6, 8)
    net.write([source], [net.softmax(net.dense(flat, 4))])


def autoencoder():
    net = Net("stand_in_autoencoder_int8", "int8")
    source = net.activation([1, 40])
    body = source
    for units in [32, 16, 8, 16, 32]:
        body = net.dense(body, units, activation=RELU)
    net.write([source], [net.dense(body, 40)])


def bytes_in_and_out():
    """As converters write it for an application with unsigned bytes: their zero points are 128 more, or others."""
    net = Net("stand_in_bytes_int8", "int8")
    source = net.tensor("uint8", [1, 30], (0.02, 125))
    other = net.tensor("uint8", [1, 30], (0.037, 9))
    body = net.add(*[net.quantize(each, "int8", ACTIVATION["int8"]) for each in [source, other]])
    output = net.dense(body, 24)
    scale, zero_point = net.affine(output)
    outputs = [(scale, zero_point + 128), (scale / 3, 40)]
    net.write([source, other], [net.quantize(output, "uint8", affine) for affine in outputs])


def layers(kind):
    """As converters since 2024 write it: a scale for each output of a fully connected layer; and two batches."""
    net = Net(f"stand_in_layers_{kind}", kind)
    source = net.activation([2, 5, 8])
    body = net.dense(net.dense(source, 12, activation=RELU, axis=0), 6, axis=0)
    net.write([source], [net.dense(net.reshape(body, 2, 30), 7, axis=0)])


def padded():
    """As networks for microcontrollers with paddings of their own, and two outputs."""
    net = Net("stand_in_padded_int8", "int8")
    source = net.activation([1, 10, 12, 2])
    body = net.conv(net.pad(source, 1, 1), 6, kernel=3, stride=2, padding=VALID)
    wide = net.depthwise(body, multiplier=2)
    narrow = net.conv(wide, 6, activation=NONE)
    net.write([source], [net.add(narrow, body), net.pool(wide, "MAX_POOL_2D", 2, 2)])


def floats():
    """As converters write it for an application with floats. One output is there in floats and in integers."""
    net = Net("stand_in_floats_int8", "int8")
    source = net.tensor("float32", [1, 16, 16, 3])
    body = net.pad(net.quantize(source, "int8", ACTIVATION["int8"]), 1, 1)
    body = net.depthwise(net.conv(body, 4, kernel=3, stride=2, padding=VALID), stride=2)
    pooled = net.pool(body, "MAX_POOL_2D", 2, 2)
    net.write([source], [net.dequantize(net.conv(body, 6, activation=NONE)), pooled, net.dequantize(pooled)])


def window():
    """A wake word over a window of time, without padding in time."""
    net = Net("stand_in_window_int8", "int8")
    source = net.activation([1, 20, 1, 8])
    body = net.conv(net.rows(source, 3), 12)
    body = net.conv(net.rows(body, 5), 12)
    body = net.rows(body, 14)
    net.write([source], [net.softmax(net.dense(net.reshape(body, 1, 12), 4))])


def main():
    for kind in ["int8", "int16", "uint8", "float32"]:
        vision(kind)
    small_weights()
    for kind in ["int8", "int16", "float32"]:
        upsampling(kind)
    keyword()
    sequence()
    autoencoder()
    bytes_in_and_out()
    for kind in ["int8", "int16"]:
        layers(kind)
    padded()
    floats()
    window()


if __name__ == "__main__":
    main()
