# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Runs models in TensorFlow Lite Micro (package tflite-micro) for the adversary, for as long as its standard input
# lasts. A request is a line of JSON, followed by as many bytes of a model as the line says; the answer is a line of
# JSON. The model that the others have to agree with comes first, as "reference"; then, as often as one likes, what is
# to be the same with a plan, with the offsets of mutants of that plan. Those may break the process, and run in a copy
# of it; the answer is then null.

import ctypes
import json
import os
import re
import signal
import struct
import sys
import tempfile

import numpy
from tflite_micro.python.tflite_micro import _runtime

CONFIG = _runtime.PythonInterpreterConfig.kAllocationRecording
# Inferences, each with other inputs.
RUNS = 3
# A request may not take longer, in seconds: its process ends.
MOST_SECONDS = 60


# Option of mallopt: what memory is filled with that is allocated.
M_PERTURB = -6
FILLINGS = [0x55, 0xC3]


class Messages:
    """What the runtime writes to its standard error."""

    def __init__(self):
        self.file = tempfile.TemporaryFile()
        os.dup2(self.file.fileno(), 2)

    def forget(self):
        os.ftruncate(2, 0)
        os.lseek(2, 0, os.SEEK_SET)

    def read(self):
        self.file.seek(0)
        return self.file.read().decode(errors="replace")


def interpreter(model, arena_bytes, filling=FILLINGS[0]):
    """With an arena full of one byte, so that what is loaded before it is stored shows."""
    ctypes.CDLL(None).mallopt(M_PERTURB, filling)
    return _runtime.InterpreterWrapper(model, [], arena_bytes, 0, CONFIG, 0)


def input_details(loaded, count):
    return [loaded.GetInputTensorDetails(index) for index in range(count)]


def random_input(random, details):
    kind, shape = numpy.dtype(details["dtype"]), details["shape"]
    if kind.kind == "f":
        return (4 * random.standard_normal(shape)).astype(kind)
    if kind.kind == "b":
        return random.integers(0, 2, shape).astype(kind)
    if kind.itemsize >= 4:
        return random.integers(-1000, 1000, shape, dtype=kind)
    limits = numpy.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, endpoint=True, dtype=kind)


class Reference:
    def __init__(self, model, request):
        self.model, self.outputs, self.arena_bytes = model, request["outputs"], request["arena_bytes"]
        details = input_details(interpreter(model, self.arena_bytes), request["inputs"])
        random = numpy.random.default_rng(request["seed"])
        self.inputs = [[random_input(random, each) for each in details] for _ in range(RUNS)]
        self.expected = {}
        self.results(False)
        # Some kernels load what nobody has stored, or do not store all of their output.
        self.is_defined = self.run(model, [True], self.arena_bytes, FILLINGS[1])[0] == self.results(False)

    def run(self, model, set_again, arena_bytes, filling=FILLINGS[0]):
        """The outputs of all inferences: each twice, where inputs are to be kept in between."""
        loaded = interpreter(model, arena_bytes, filling)
        results = []
        for inputs in self.inputs:
            for again in set_again:
                if again:
                    for index, values in enumerate(inputs):
                        loaded.SetInputTensor(values, index)
                loaded.Invoke()
                results.append([loaded.GetOutputTensor(index).tobytes() for index in range(self.outputs)])
        return results, loaded

    def results(self, twice):
        if twice not in self.expected:
            set_again = [True, True] if twice else [True]
            self.expected[twice], self.loaded = self.run(self.model, set_again, self.arena_bytes)
        return self.expected[twice]

    def verdict(self, model, keeps_inputs, arena_bytes):
        expected = self.results(keeps_inputs)
        try:
            results, self.loaded = self.run(model, [True, False] if keeps_inputs else [True], arena_bytes)
        except (RuntimeError, ValueError) as error:
            return "failed: " + str(error)
        return "same" if results == expected else "different"


def head(loaded, messages):
    """What it takes of its arena for tensors and scratch buffers, in bytes."""
    messages.forget()
    loaded.PrintAllocations()
    return int(re.search("allocation head ([0-9]+) bytes", messages.read())[1])


def judged(reference, model, request, messages):
    arena_bytes = reference.arena_bytes + request["more_bytes"]
    answer = {"planned": reference.verdict(model, request["keeps_inputs"], arena_bytes), "mutants": []}
    if answer["planned"] == "same":
        answer["head_bytes"] = head(reference.loaded, messages)
    place = request["place"]
    for offsets in request["mutants"]:
        words = struct.pack(f"<{len(offsets)}i", *offsets)
        mutant = model[:place] + words + model[place + len(words) :]
        answer["mutants"].append(reference.verdict(mutant, False, arena_bytes))
    return answer


def in_a_child(answer):
    """An answer that may break the process: `None` where it does."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(MOST_SECONDS)
        with os.fdopen(writing, "w") as pipe:
            json.dump(answer(), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if status == 0 else None


def main():
    messages = Messages()
    reference = None
    for line in sys.stdin.buffer:
        request = json.loads(line)
        model = sys.stdin.buffer.read(request["bytes"])
        messages.forget()
        if request["what"] == "reference":
            signal.alarm(MOST_SECONDS)
            try:
                reference = Reference(model, request)
                answer = {"head_bytes": head(reference.loaded, messages), "is_defined": reference.is_defined}
            except (RuntimeError, ValueError) as error:
                answer = {"refused": messages.read() or str(error)}
            signal.alarm(0)
        else:
            answer = in_a_child(lambda: judged(reference, model, request, messages))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


main()
