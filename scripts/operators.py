#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# operators.py: writes tracer/tests/golden/stand_in_operators_*.tflite: operators that go along an axis, stack tensors,
# take them apart or move blocks, row by row normalisation, sums and choices of several tensors, each between others so
# that its input dies. TensorFlow Lite Micro runs them with each overlap that is granted.
#
# Requirements: scripts/requirements.txt

import numpy
from flatbuffers import flexbuffers
from stand_ins import ACTIVATION, TYPES, Net, schema

TYPES["bool"] = schema.TensorType.BOOL
TYPES["uint32"] = schema.TensorType.UINT32
TYPES["uint64"] = schema.TensorType.UINT64
# Output of L2_NORMALIZATION and of LOG_SOFTMAX, as the kernels want it.
UNIT = {"int8": (1 / 128, 0), "float32": None}
LOGARITHM = {"int8": (16 / 256, 127), "float32": None}
REFLECT, SYMMETRIC = 0, 1


class Operators(Net):
    def same(self, kind, *sources, options=None, affine=..., shape=None):
        """An operator whose output is like its first input."""
        affine = self.affine(sources[0]) if affine is ... else affine
        output = self.tensor(self.kind, shape or self.shape(sources[0]), affine)
        return self.operator(kind, list(sources), [output], options)

    def blocks(self, source, into_depth, block):
        batches, height, width, depth = self.shape(source)
        kind = "SPACE_TO_DEPTH" if into_depth else "DEPTH_TO_SPACE"
        options = schema.SpaceToDepthOptionsT() if into_depth else schema.DepthToSpaceOptionsT()
        options.blockSize = block
        if into_depth:
            shape = [batches, height // block, width // block, depth * block**2]
        else:
            shape = [batches, height * block, width * block, depth // block**2]
        return self.same(kind, source, options=options, shape=shape)

    def mirror_pad(self, source, paddings, mode):
        options = schema.MirrorPadOptionsT()
        options.mode = mode
        shape = [extent + sum(padding) for extent, padding in zip(self.shape(source), paddings, strict=True)]
        table = self.tensor("int32", [len(paddings), 2], data=paddings)
        return self.same("MIRROR_PAD", source, table, options=options, shape=shape)

    def cumsum(self, source, axis, exclusive=False, reverse=False):
        options = schema.CumsumOptionsT()
        options.exclusive, options.reverse = exclusive, reverse
        return self.same("CUMSUM", source, self.integers(axis), options=options)

    def pack(self, *sources, axis):
        options = schema.PackOptionsT()
        options.valuesCount, options.axis = len(sources), axis
        shape = list(self.shape(sources[0]))
        shape.insert(axis, len(sources))
        return self.same("PACK", *sources, options=options, shape=shape)

    def unpack(self, source, axis):
        shape = list(self.shape(source))
        options = schema.UnpackOptionsT()
        options.num, options.axis = shape.pop(axis), axis
        outputs = [self.tensor(self.kind, shape, self.affine(source)) for _ in range(options.num)]
        self.operator("UNPACK", [source], outputs, options)
        return outputs

    def extreme(self, source, kind, axis):
        shape = list(self.shape(source))
        del shape[axis]
        options = schema.ArgMaxOptionsT() if kind == "ARG_MAX" else schema.ArgMinOptionsT()
        options.outputType = TYPES["int32"]
        output = self.tensor("int32", shape)
        return self.operator(kind, [source, self.integers(axis)], [output], options)

    def larger(self, one, other):
        condition = self.tensor("bool", self.shape(one))
        self.operator("GREATER", [one, other], [condition])
        return self.same("SELECT_V2", condition, one, other, affine=self.affine(one), shape=self.shape(one))

    def absolute(self, source):
        """So that what comes before dies, and what comes after has an input that does."""
        return self.same("ABS", source)


def operators(kind):
    net = Operators(f"stand_in_operators_{kind}", kind)
    source = net.activation([1, 4, 6, 4])
    body = net.blocks(source, into_depth=True, block=2)
    body = net.blocks(net.absolute(body), into_depth=False, block=2)
    body = net.mirror_pad(body, [[0, 0], [1, 2], [2, 1], [0, 1]], REFLECT)
    body = net.mirror_pad(body, [[1, 0], [0, 2], [3, 3], [1, 1]], SYMMETRIC)
    body = net.cumsum(body, 3)
    body = net.cumsum(body, -3)
    body = net.cumsum(body, 3, exclusive=True)
    body = net.cumsum(body, 2, exclusive=True, reverse=True)
    body = net.same("L2_NORMALIZATION", body, options=schema.L2NormOptionsT(), affine=UNIT[kind])
    parts = [net.absolute(part) for part in net.unpack(body, 0)]
    rows = net.unpack(net.pack(*parts, axis=2), 1)
    total = net.same("ADD_N", *rows[:3], options=schema.AddNOptionsT(), affine=ACTIVATION[kind])
    others = [net.pack(rows[3], rows[4], axis=0), net.pack(rows[5], rows[6], axis=0)]
    chosen = net.larger(*others)
    scores = net.same("LOG_SOFTMAX", total, options=schema.LogSoftmaxOptionsT(), affine=LOGARITHM[kind])
    outputs = [net.extreme(net.absolute(chosen), "ARG_MAX", 3), net.extreme(scores, "ARG_MIN", 0)]
    # What is neither of four bytes nor of one.
    outputs += [net.extreme(net.absolute(rows[7]), "ARG_MAX", 2), *rows[8:]]
    net.write([source], outputs)


class Signal(Net):
    def custom(self, name, sources, outputs, **options):
        """A custom operator; its options are a map, whose names are in order."""
        # Each has an entry of its own in the table of operators.
        operator = schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = len(self.codes), sources, outputs
        self.graph.operators.append(operator)
        self.codes.append(schema.BuiltinOperator.CUSTOM)
        self.customs[operator.opcodeIndex] = name
        builder = flexbuffers.Builder()
        with builder.Map():
            for key, value in sorted(options.items()):
                builder.Key(key)
                (builder.Float if isinstance(value, float) else builder.Int)(value)
        operator.customOptions = list(builder.Finish())
        return outputs[0]

    def code(self, index, code):
        if index in self.customs:
            code.customCode = self.customs[index]


def signal():
    """A front end for audio: a frame to the logarithms of a few channels."""
    net = Signal("stand_in_operators_signal", "int16")
    net.customs = {}
    frame, channels = 64, 5
    tensor = net.tensor
    random = net.random.integers
    source = tensor("int16", [frame])
    window = tensor("int16", [frame], data=random(1, 4096, frame))
    body = net.custom("SignalWindow", [source, window], [tensor("int16", [frame])], shift=12)
    delayed = net.custom("SignalDelay", [body], [tensor("int16", [frame])], delay_length=5)
    scaled, scale = tensor("int16", [frame]), tensor("int32", [])
    net.custom("SignalFftAutoScale", [delayed], [scaled, scale])
    spectrum = tensor("int16", [frame + 2])
    net.custom("SignalRfft", [scaled], [spectrum], T=TYPES["int16"], fft_length=frame)
    energy = tensor("uint32", [frame // 2 + 1])
    net.custom("SignalEnergy", [spectrum], [energy], start_index=0, end_index=frame // 2 + 1)
    weights = random(0, 4096, 6 * (channels + 1))
    tables = [weights, 4096 - weights, *(numpy.arange(channels + 1) * 5 + first for first in (2, 0))]
    tables.append(numpy.full(channels + 1, 5))
    tables = [tensor("int16", [len(table)], data=table) for table in tables]
    banks = tensor("uint64", [channels])
    net.custom("SignalFilterBank", [energy, *tables], [banks], num_channels=channels)
    roots = net.custom("SignalFilterBankSquareRoot", [banks, scale], [tensor("uint32", [channels])])
    quiet, noise = tensor("uint32", [channels]), tensor("uint32", [channels])
    net.custom(
        "SignalFilterBankSpectralSubtraction",
        [roots],
        [quiet, noise],
        alternate_one_minus_smoothing=13762,
        alternate_smoothing=2621,
        clamping=1,
        min_signal_remaining=819,
        num_channels=channels,
        one_minus_smoothing=15974,
        smoothing=409,
        smoothing_bits=10,
        spectral_subtraction_bits=14,
    )
    logarithms = tensor("int16", [channels])
    net.custom("SignalFilterBankLog", [quiet], [logarithms], input_correction_bits=3, output_scale=1600)
    frames = tensor("int16", [4, 16])
    options = schema.ReshapeOptionsT()
    options.newShape = [4, 16]
    net.operator("RESHAPE", [delayed, net.integers(4, 16)], [frames], options)
    added = tensor("int16", [4 * 6])
    net.custom("SignalOverlapAdd", [frames], [added], T=TYPES["int16"], frame_step=6)
    net.write([source], [logarithms, noise, net.custom("SignalDelay", [added], [tensor("int16", [24])], delay_length=3)])


def main():
    for kind in ["float32", "int8"]:
        operators(kind)
    signal()


if __name__ == "__main__":
    main()
