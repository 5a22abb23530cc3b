#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# variables.py: writes tracer/tests/golden/further_variables_*.tflite, which golden.py then runs: wake words that take the
# newest rows of a window and keep the older ones, in resource variables, as converters write them, or in circular
# buffers.
#
# Requirements: scripts/requirements.txt

from further import slice_of
from operators import Operators, Signal
from stand_ins import TYPES, schema

TYPES["resource"] = schema.TensorType.RESOURCE


class Streaming(Operators):
    def __init__(self, name, kind):
        super().__init__(name, kind)
        self.main, self.first = self.graph, schema.SubGraphT()
        self.first.tensors, self.first.operators, self.first.inputs, self.first.outputs = [], [], [], []
        self.others.append(self.first)
        options = schema.CallOnceOptionsT()
        options.initSubgraphIndex = 1
        self.operator("CALL_ONCE", [], [], options)

    def handle(self, name):
        options = schema.VarHandleOptionsT()
        options.container, options.sharedName = "", name
        return self.operator("VAR_HANDLE", [], [self.tensor("resource", [])], options)

    def begins_with(self, name, shape, affine, values):
        """What a variable holds before the first inference."""
        self.graph = self.first
        value = self.tensor(self.kind, shape, affine, data=values)
        self.operator("ASSIGN_VARIABLE", [self.handle(name), value], [], schema.AssignVariableOptionsT())
        self.graph = self.main

    def keep(self, source, rows, values, other_handle=False):
        """The last rows, and the new ones after them."""
        batch, new, width, depth = self.shape(source)
        name, shape, affine = f"rows_{len(self.main.tensors)}", [batch, rows, width, depth], self.affine(source)
        self.begins_with(name, shape, affine, values)
        handle = self.handle(name)
        kept = self.tensor(self.kind, shape, affine)
        self.operator("READ_VARIABLE", [handle], [kept], schema.ReadVariableOptionsT())
        options = schema.ConcatenationOptionsT()
        options.axis = 1
        joined = self.same("CONCATENATION", kept, source, options=options, shape=[batch, rows + new, width, depth])
        last = slice_of(self, joined, [0, new, 0, 0], [1, 1, 1, 1], shape)
        if other_handle:
            handle = self.handle(name)
        self.operator("ASSIGN_VARIABLE", [handle, last], [], schema.AssignVariableOptionsT())
        return joined


def wake_word(kind):
    net = Streaming(f"further_variables_{kind}", kind)
    zero = {"int8": -3, "float32": 0}[kind]
    random = net.random.integers(-60, 60, 2 * 12)
    source = net.activation([1, 2, 1, 8])
    body = net.conv(net.rows(net.keep(source, 2, [zero] * 16), 3), 12)
    body = net.conv(net.rows(net.keep(body, 2, random), 3), 12)
    body = net.keep(body, 4, [zero] * 48, other_handle=True)
    outputs = [net.dense(net.reshape(body, 1, 72), 4)]
    if kind == "int8":
        outputs = [net.softmax(outputs[0])]
    net.write([source], outputs)


class Rows(Signal, Operators):
    def keep(self, source, rows):
        batch, _, width, depth = self.shape(source)
        shape, affine = [batch, rows, width, depth], self.affine(source)
        return self.custom("CIRCULAR_BUFFER", [source], [self.tensor("int8", shape, affine, variable=True)], cycles_max=1)


def circular_buffers():
    net = Rows("further_variables_rows", "int8")
    net.customs = {}
    source = net.activation([1, 1, 3, 4])
    body = net.conv(net.rows(net.keep(source, 3), 3), 6)
    body = net.conv(net.rows(net.keep(body, 4), 4), 5)
    net.write([source], [net.dense(net.reshape(net.keep(body, 2), 1, 30), 4)])


def main():
    circular_buffers()
    for kind in ["int8", "float32"]:
        wake_word(kind)


if __name__ == "__main__":
    main()
