#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# runtime.py lite|micro MODEL [OTHER]: runs a model on random inputs and checks that OTHER computes the same bytes, in
# TensorFlow Lite (package ai-edge-litert) or TensorFlow Lite Micro (package tflite-micro). Ends with 3 where the
# runtime does not load MODEL, with 1 where the two differ or OTHER does not run.
#
# runtime.py arena MODEL: prints what TensorFlow Lite Micro takes of its arena, in bytes: for activations and scratch
# buffers, and for itself.
#
# runtime.py plans MODEL PLACE: runs a model whose plan's offsets begin at byte PLACE in TensorFlow Lite Micro, once as it
# is and once with each plan of the standard input, one a line. Prints for each plan whether the results are the same.

import itertools
import os
import re
import signal
import sys
import tempfile

import numpy

RUNS = 3
NOT_LOADED = 3
ARENA_BYTES = 1 << 27
# Many times what the largest model takes: a runtime that has spoilt its own heap may wait for ever.
SECONDS = 60


class Lite:
    def __init__(self, path):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        self.interpreter = Interpreter(model_path=path, experimental_op_resolver_type=kernels)
        self.interpreter.allocate_tensors()
        self.inputs = self.interpreter.get_input_details()

    def outputs(self, inputs):
        for details, values in zip(self.inputs, inputs, strict=True):
            self.interpreter.set_tensor(details["index"], values)
        self.interpreter.invoke()
        outputs = self.interpreter.get_output_details()
        return [self.interpreter.get_tensor(details["index"]).tobytes() for details in outputs]


class Micro:
    def __init__(self, model):
        from tflite_micro.python.tflite_micro import runtime

        load = runtime.Interpreter.from_file if isinstance(model, str) else runtime.Interpreter.from_bytes
        self.interpreter = load(model, arena_size=ARENA_BYTES)
        self.inputs = list(every(self.interpreter.get_input_details))

    def outputs(self, inputs):
        for index, values in enumerate(inputs):
            self.interpreter.set_input(values, index)
        self.interpreter.invoke()
        return [values.tobytes() for values in every(self.interpreter.get_output)]


def every(get):
    """It does not tell how many inputs and outputs there are, but refuses the first that is not there."""
    for index in itertools.count():
        try:
            yield get(index)
        except (IndexError, RuntimeError, ValueError):
            return


def random_input(random, details):
    kind = numpy.dtype(details["dtype"])
    shape = details["shape"]
    if kind.kind == "f":
        return random.uniform(-1, 1, shape).astype(kind)
    if kind.kind == "b":
        return random.integers(0, 2, shape).astype(kind)
    limits = numpy.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, endpoint=True, dtype=kind)


def load(runtime, model):
    try:
        return runtime(model)
    except (RuntimeError, ValueError) as error:
        print(error)
        sys.exit(NOT_LOADED)


def plans(path, place):
    with open(path, "rb") as file:
        model = file.read()
    interpreter = load(Micro, model)
    random = numpy.random.default_rng(1)
    runs = [[random_input(random, details) for details in interpreter.inputs] for _ in range(RUNS)]
    expected = [interpreter.outputs(inputs) for inputs in runs]
    for line in sys.stdin:
        offsets = numpy.array(line.split(), dtype="<i4").tobytes()
        interpreter = Micro(model[:place] + offsets + model[place + len(offsets) :])
        same = all(interpreter.outputs(inputs) == outputs for inputs, outputs in zip(runs, expected))
        print("same" if same else "different")


def arena(path):
    interpreter = load(Micro, path).interpreter
    # It tells its own standard error only.
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        interpreter.print_allocations()
        os.dup2(kept, 2)
        file.seek(0)
        text = file.read().decode()
    print(*(re.search(f"allocation {part} ([0-9]+) bytes", text)[1] for part in ("head", "tail")))


def main():
    # Ends the process as any signal does that a runtime breaks on, also inside the runtime.
    signal.alarm(SECONDS)
    if sys.argv[1] == "arena":
        arena(sys.argv[2])
        return
    if sys.argv[1] == "plans":
        plans(sys.argv[2], int(sys.argv[3]))
        return
    runtime = {"lite": Lite, "micro": Micro}[sys.argv[1]]
    model = load(runtime, sys.argv[2])
    other = runtime(sys.argv[-1])
    random = numpy.random.default_rng(1)
    for run in range(RUNS):
        inputs = [random_input(random, details) for details in model.inputs]
        pairs = zip(model.outputs(inputs), other.outputs(inputs), strict=True)
        for index, (one, two) in enumerate(pairs):
            if one != two:
                sys.exit(f"run {run}: output {index} differs")


main()
