#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# activations.py: writes tracer/tests/golden/activations_*.tflite, which golden.py then runs. Each has several operators
# that go element by element, with an input and an output of their own. Scales are powers of two, so that products fall
# on halves, and others; alphas include 0, one above 1 and one below 0.
#
# Requirements: scripts/requirements.txt

import pathlib

import flatbuffers
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tracer/tests/golden"
# Too many for the outputs themselves to be kept.
ELEMENTS = 2560

# Scale and zero point of the input and of the output, and alpha.
HARD_SWISH_INT8 = [
    ((0.0625, -3), (0.0625, -5)),
    ((0.05, 12), (0.037, -115)),
    ((0.0078125, 0), (0.00390625, 127)),
    ((0.9, -128), (0.1, -128)),
    ((0.001, 127), (0.0004, -20)),
    ((2.0, 100), (0.5, 7)),
]
LEAKY_RELU_INT8 = [
    ((0.0625, -3), (0.0625, -5), 0.25),
    ((0.05, 12), (0.037, -115), 0.1),
    ((0.25, 0), (1.0, 7), 0.5),
    ((0.25, 0), (1.0, 7), -0.5),
    ((0.011, 127), (0.011, 127), 0.01),
    ((0.03, -128), (0.007, 40), 1.5),
    ((0.02, 3), (0.03, 0), 0.0),
]
LEAKY_RELU_INT16 = [
    ((0.0005, 0), (0.0005, 0), 0.1),
    ((0.25, 0), (1.0, 0), 0.5),
    ((0.25, 0), (1.0, 0), -0.5),
    ((0.0025, 0), (0.0009, 0), 0.3),
    ((0.001, 0), (0.003, 0), 1.5),
]


def tensor(name, element_type, affine):
    result = schema.TensorT()
    result.name, result.type, result.shape = name, element_type, [1, ELEMENTS]
    if affine is not None:
        result.quantization = schema.QuantizationParametersT()
        result.quantization.scale, result.quantization.zeroPoint = [affine[0]], [affine[1]]
    return result


def write(name, element_type, operators):
    """`operators`: kind, the two quantisations, alpha or None."""
    graph = schema.SubGraphT()
    graph.tensors, graph.inputs, graph.outputs, graph.operators = [], [], [], []
    kinds = sorted({kind for kind, *_ in operators})
    for kind, from_affine, to_affine, alpha in operators:
        operator = schema.OperatorT()
        operator.opcodeIndex = kinds.index(kind)
        operator.inputs, operator.outputs = [len(graph.tensors)], [len(graph.tensors) + 1]
        if alpha is not None:
            operator.builtinOptionsType = schema.BuiltinOptions.LeakyReluOptions
            operator.builtinOptions = schema.LeakyReluOptionsT()
            operator.builtinOptions.alpha = alpha
        graph.tensors.append(tensor(f"input_{len(graph.operators)}", element_type, from_affine))
        graph.tensors.append(tensor(f"output_{len(graph.operators)}", element_type, to_affine))
        graph.inputs += operator.inputs
        graph.outputs += operator.outputs
        graph.operators.append(operator)
    model = schema.ModelT()
    model.version, model.description, model.operatorCodes = 3, name, []
    for kind in kinds:
        code = schema.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, kind)
        code.version = 1
        model.operatorCodes.append(code)
    model.subgraphs, model.buffers = [graph], [schema.BufferT()]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    (GOLDEN / f"{name}.tflite").write_bytes(builder.Output())


def main():
    types = schema.TensorType
    hard_swish = [("HARD_SWISH", *affines, None) for affines in HARD_SWISH_INT8]
    leaky_relu = [("LEAKY_RELU", *row) for row in LEAKY_RELU_INT8]
    write("activations_int8", types.INT8, hard_swish + leaky_relu)
    write("activations_int16", types.INT16, [("LEAKY_RELU", *row) for row in LEAKY_RELU_INT16])
    alphas = [("LEAKY_RELU", None, None, alpha) for alpha in [0.0, 0.1, 1.5, -0.25]]
    write("activations_float", types.FLOAT32, [("HARD_SWISH", None, None, None), *alphas])


if __name__ == "__main__":
    main()
