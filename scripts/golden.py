#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# golden.py [--check] [MODEL...]: what the reference kernels of TensorFlow Lite Micro and of TensorFlow Lite compute on
# real models, as tracer/tests/golden/MODEL.json; its README says what is in them. With --check it compares instead of
# writing, and ends with 1 where something differs. Models of activations.py, compressed.py, detections.py, further.py,
# operators.py, signals.py, stand_ins.py and variables.py lie beside the results; the others are looked for in
# $DMO_TRACE_MODELS, else beside the repository, and those that are missing are named and skipped.
#
# Requirements: scripts/requirements.txt
#
# TensorFlow Lite has kernels of several kinds. The resolver BUILTIN_REF registers the reference kernels, and applies no
# default delegate, so that XNNPACK does not take operators over. Both runtimes are told to keep all tensors: otherwise
# a later tensor takes the place of an intermediate one. Each run has an interpreter of its own, so that variables start
# as they are reset, which is at their zero point.

import argparse
import hashlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

import numpy

MODELS = [
    "activations_float",
    "activations_int16",
    "activations_int8",
    "further_axes_float32",
    "further_axes_int8",
    "further_batches_float32",
    "further_batches_int8",
    "further_broadcast_float32",
    "further_broadcast_int16",
    "further_broadcast_int8",
    "further_casts_int8",
    "further_compressed_constants",
    "further_compressed_weights",
    "further_curves_int16",
    "further_detection_float32",
    "further_extents_float32",
    "further_extents_int16",
    "further_extents_int8",
    "further_functions_float32",
    "further_functions_int16",
    "further_functions_int8",
    "further_gathers_float32",
    "further_gathers_int8",
    "further_integers_int8",
    "further_moves_float32",
    "further_moves_int8",
    "further_pairs_float32",
    "further_pairs_int16",
    "further_pairs_int8",
    "further_plain_float32",
    "further_plain_int16",
    "further_plain_int8",
    "further_products_float32",
    "further_products_int16",
    "further_products_int8",
    "further_quotients_float32",
    "further_quotients_int8",
    "further_sequences_float32",
    "further_sequences_int16",
    "further_signal_float32",
    "further_signal_int16",
    "further_signal_int32",
    "further_signal_uint32",
    "further_types_int16",
    "further_variables_float32",
    "further_variables_int8",
    "further_variables_rows",
    "stand_in_autoencoder_int8",
    "stand_in_bytes_int8",
    "stand_in_floats_int8",
    "stand_in_keyword_int8",
    "stand_in_layers_int16",
    "stand_in_layers_int8",
    "stand_in_operators_int8",
    "stand_in_operators_signal",
    "stand_in_padded_int8",
    "stand_in_sequence_int8",
    "stand_in_upsampling_float32",
    "stand_in_upsampling_int16",
    "stand_in_upsampling_int8",
    "stand_in_vision_float32",
    "stand_in_vision_int16",
    "stand_in_vision_int8",
    "stand_in_vision_uint8",
    "stand_in_weights_int4",
    "stand_in_window_int8",
    "coral/mobilenet_v1_0.25_128_quant",
    "coral/mobilenet_v2_1.0_224_quant",
    "mlcommons_tiny/ad01_int8",
    "mlcommons_tiny/kws_ref_model",
    "mlcommons_tiny/pretrainedResnet_quant",
    "mlcommons_tiny/str_ww_ref_model",
    "mlcommons_tiny/vww_96_float",
    "mlcommons_tiny/vww_96_int8",
    "swiftnet/swiftnet_vww_uint8",
    "tflite_micro/hello_world_float",
    "tflite_micro/hello_world_int8",
    "tflite_micro/keyword_scrambled_8bit",
    "tflite_micro/micro_speech_quantized",
    "tflite_micro/person_detect",
    "tflite_micro/simple_add_model",
    "tflite_micro/trained_lstm_int8",
    "tinyengine/mcunet_vww",
]

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tracer/tests/golden"
PACKAGES = {"micro": "tflite-micro", "lite": "ai-edge-litert"}
NUMBERS = [0, 1, 2]
# Of operators that keep something which is no tensor: after which inputs another one is run.
STREAMS, AFTER = ["signal", "variables"], [[0, 5], [6, 5, 1, 7, 0]]
ARENA_BYTES = 1 << 26
# Larger outputs are kept as their hash only.
OUTPUT_BYTES = 2048

UINT8 = "it has no kernels for activations of type UINT8"
LEFT_OUT = {
    ("coral/mobilenet_v1_0.25_128_quant", "micro"): UINT8,
    ("coral/mobilenet_v2_1.0_224_quant", "micro"): UINT8,
    ("swiftnet/swiftnet_vww_uint8", "micro"): UINT8,
    ("stand_in_vision_uint8", "micro"): UINT8,
    ("further_axes_int8", "lite"): "it has no CUMSUM of type INT8",
    ("further_extents_int8", "lite"): "it has no ZEROS_LIKE of type INT8",
    ("stand_in_operators_int8", "lite"): "it has no CUMSUM of type INT8",
    ("further_pairs_int16", "lite"): "it has no SQUARED_DIFFERENCE of type INT16",
    ("further_curves_int16", "lite"): "its SUM of type INT16 gives other numbers each time",
    ("further_pairs_int8", "lite"): "it has no ADD_N of type INT8",
    ("further_functions_float32", "lite"): "it has no reference kernel for CEIL",
    ("further_functions_int8", "lite"): "it has no reference kernel for ELU",
    ("further_sequences_int16", "lite"): "it has no UNIDIRECTIONAL_SEQUENCE_LSTM of type INT16",
    ("further_variables_rows", "lite"): "it has no CIRCULAR_BUFFER",
    ("further_integers_int8", "lite"): "it has no QUANTIZE to type INT32",
    ("tflite_micro/keyword_scrambled_8bit", "lite"): "it breaks its heap where it is to keep all tensors",
    ("tflite_micro/person_detect", "lite"): "it refuses biases whose quantized_dimension is 3",
}


LEFT_OUT.update({(name, "lite"): "it has no operators of the signal library" for name in MODELS if STREAMS[0] in name})
LEFT_OUT.update({(name, "lite"): "it has no TFLM_DECODE" for name in MODELS if "compressed" in name})


class Micro:
    def __init__(self, model):
        from tflite_micro.python.tflite_micro import runtime

        keep = runtime.InterpreterConfig.kPreserveAllTensors
        self.interpreter = runtime.Interpreter.from_bytes(model, intrepreter_config=keep, arena_size=ARENA_BYTES)

    def run(self, inputs):
        for position, (_, values) in enumerate(inputs):
            self.interpreter.set_input(values, position)
        self.interpreter.invoke()

    def tensor(self, index):
        return self.interpreter.GetTensor(index, 0)["tensor_data"]


class Lite:
    def __init__(self, model):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        self.interpreter = Interpreter(
            model_content=model,
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
            experimental_preserve_all_tensors=True,
            num_threads=1,
        )
        self.interpreter.allocate_tensors()

    def run(self, inputs):
        for index, values in inputs:
            self.interpreter.set_tensor(index, values)
        self.interpreter.invoke()

    def tensor(self, index):
        return self.interpreter.get_tensor(index)


RUNTIMES = {"micro": Micro, "lite": Lite}


class Model:
    """What the file says of its only subgraph."""

    def __init__(self, name):
        from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

        with open(model_path(name), "rb") as file:
            self.bytes = file.read()
        model = schema.Model.GetRootAsModel(self.bytes, 0)
        self.graph = model.Subgraphs(0)
        self.inputs = self.graph.InputsAsNumpy().tolist()
        self.outputs = self.graph.OutputsAsNumpy().tolist()
        kinds = {number: kind for kind, number in vars(schema.BuiltinOperator).items() if isinstance(number, int)}
        self.operators = []
        for index in range(self.graph.OperatorsLength()):
            operator = self.graph.Operators(index)
            code = model.OperatorCodes(operator.OpcodeIndex())
            kind = kinds[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
            kind = code.CustomCode().decode() if kind == "CUSTOM" else kind
            tensors = [vector.tolist() for vector in (operator.InputsAsNumpy(), operator.OutputsAsNumpy())]
            self.operators.append((kind, *tensors))
        tensors = range(self.graph.TensorsLength())
        self.variables = [index for index in tensors if self.graph.Tensors(index).IsVariable()]
        types = {
            schema.TensorType.FLOAT32: numpy.float32,
            schema.TensorType.UINT8: numpy.uint8,
            schema.TensorType.INT8: numpy.int8,
            schema.TensorType.INT16: numpy.int16,
            schema.TensorType.INT32: numpy.int32,
        }
        self.content = lambda number: [
            (index, content(number, position, self.graph.Tensors(index), types))
            for position, index in enumerate(self.inputs)
        ]

    def input_hashes(self, number):
        return {str(index): sha256(values.tobytes()) for index, values in self.content(number)}

    def scale(self, index):
        return self.graph.Tensors(index).Quantization().Scale(0)


def mixed(z):
    """SplitMix64's finaliser."""
    word = numpy.uint64
    z = (z ^ (z >> word(30))) * word(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> word(27))) * word(0x94D049BB133111EB)
    return z ^ (z >> word(31))


def content(number, position, tensor, types):
    """The bytes of an input, those of `Variation(number).ordinary(position, ..)` of tracer/src/program/other_inputs.rs."""
    shape = tensor.ShapeAsNumpy()
    kind = numpy.dtype(types[tensor.Type()])
    count = int(numpy.prod(shape))
    word = numpy.uint64
    golden = 0x9E3779B97F4A7C15
    seed = mixed(numpy.array([number], dtype=word)) + word(position)
    value = mixed(seed + word(golden) * numpy.arange(1, count + 1, dtype=word))
    special = value >> word(61)
    if number == 0:
        special[special == 4] = 5
    elif 2 <= number <= 4:
        special[:] = {2: 0, 3: 2, 4: 3}[number]
    if kind.kind == "f":
        elements = floats(special, value)
    else:
        bits = 8 * kind.itemsize
        chosen = [word(0), word(0), word(1 << (bits - 1)), word((1 << (bits - 1)) - 1)]
        elements = numpy.select([special == index for index in range(4)], chosen, value)
        elements = (elements & word((1 << bits) - 1)).astype(f"<u{kind.itemsize}").view(kind)
    return elements.reshape(shape)


def floats(special, value):
    word = numpy.uint64
    single = numpy.float32
    uniform = (value & word(0xFFFFFF)).astype(single) / single(128) / single(8192) - single(8)
    exponent = word(27) + (value >> word(23) & word(0xFFFF)) % word(201)
    sign = value >> word(39) & word(1)
    wide = (sign << word(31) | exponent << word(23) | value & word(0x7FFFFF)).astype("<u4").view(single)
    limits = [single(0), single(0), single(-1e6), single(1e6), wide]
    return numpy.select([special == index for index in range(5)], limits, uniform).astype("<f4")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def overflows(model, tensors):
    """Which operators make integers of numbers that are too large for one: each machine has its own result."""
    for index, (kind, inputs, _) in enumerate(model.operators):
        if kind == "QUANTIZE" and tensors(inputs[0]).dtype.kind == "f":
            numbers = tensors(inputs[0]).astype(numpy.float64) / model.scale(model.operators[index][2][0])
            if not (numpy.abs(numbers) < 2**31 - 2**16).all():
                yield index


def leaves_output(kind, outputs, interpreter):
    """Whether the operator has left its first output as it was."""
    return kind in ["SignalFramer", "SignalStacker"] and not interpreter.tensor(outputs[1]).any()


def run(model, runtime, number, after=()):
    """What one run computes, after others."""
    interpreter = RUNTIMES[runtime](model.bytes)
    for before in [*after, number]:
        interpreter.run(model.content(before))
    undefined = list(overflows(model, interpreter.tensor))
    if undefined:
        return {"number": number, "overflows": undefined}
    result = {"number": number, "after": list(after), "tensors": {}, "outputs": {}}
    if not after:
        del result["after"]
    unset = [outputs[0] for kind, _, outputs in model.operators if leaves_output(kind, outputs, interpreter)]
    # A handle is a number of the runtime's own.
    computed = [outputs for kind, _, outputs in model.operators if kind != "VAR_HANDLE"]
    for outputs in [*computed, model.variables]:
        for index in [index for index in outputs if index not in unset]:
            values = interpreter.tensor(index)
            result["tensors"][str(index)] = sha256(values.tobytes())
            if values.dtype.kind == "f" and numpy.isnan(values).any():
                result.setdefault("not_a_number", []).append(index)
    for index in [index for index in model.outputs if index not in unset]:
        data = interpreter.tensor(index).tobytes()
        if len(data) <= OUTPUT_BYTES:
            result["outputs"][str(index)] = data.hex()
    return result


def runs(name, runtime):
    """All runs in a process of their own, since runtimes break on some models."""
    child = subprocess.run(
        [sys.executable, __file__, "--run", runtime, name], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if child.returncode != 0:
        sys.exit(f"{name}: {PACKAGES[runtime]} ends with {child.returncode}\n{child.stderr}")
    return json.loads(child.stdout)


def golden(name):
    model = Model(name)
    result = {
        "model": f"{name}.tflite",
        "sha256": sha256(model.bytes),
        "runtimes": {},
        "left_out": {},
        "operators": [{"kind": kind, "outputs": outputs} for kind, _, outputs in model.operators],
        "inputs": [{"number": number, "tensors": model.input_hashes(number)} for number in NUMBERS],
        "results": [],
    }
    for runtime, package in PACKAGES.items():
        if (name, runtime) in LEFT_OUT:
            result["left_out"][runtime] = LEFT_OUT[name, runtime]
            continue
        result["runtimes"][runtime] = f"{package} {importlib.metadata.version(package)}"
        found = runs(name, runtime)
        same = [known for known in result["results"] if known["runs"] == found]
        if same:
            same[0]["runtimes"].append(runtime)
        else:
            result["results"].append({"runtimes": [runtime], "runs": found})
    return result


def model_path(name):
    own = GOLDEN / f"{name}.tflite"
    if own.exists():
        return own
    return pathlib.Path(os.environ.get("DMO_TRACE_MODELS", ROOT.parent / "shared/models")) / f"{name}.tflite"


def differs(old, new):
    """Whether anything but the runtimes' versions does."""
    return any(old.get(key) != new[key] for key in new if key != "runtimes")


def main():
    parser = argparse.ArgumentParser(description="what reference kernels compute on real models")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--run", choices=RUNTIMES, help=argparse.SUPPRESS)
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL")
    arguments = parser.parse_args()
    if arguments.run:
        model = Model(arguments.models[0])
        runs = [(number, []) for number in NUMBERS]
        runs += [(1, after) for after in AFTER if any(stream in arguments.models[0] for stream in STREAMS)]
        json.dump([run(model, arguments.run, *each) for each in runs], sys.stdout)
        return
    unlike = []
    for name in arguments.models:
        if not model_path(name).exists():
            print(f"{name}: the model is missing")
            continue
        path = GOLDEN / f"{name.split('/')[-1]}.json"
        new = golden(name)
        if not arguments.check:
            path.write_text(json.dumps(new, indent=1) + "\n")
        elif not path.exists() or differs(json.loads(path.read_text()), new):
            unlike.append(name)
        agree = " and ".join(",".join(result["runtimes"]) for result in new["results"])
        print(f"{name}: {agree}")
    if unlike:
        sys.exit(f"not as {GOLDEN.relative_to(ROOT)} has them: {', '.join(unlike)}")


if __name__ == "__main__":
    main()
