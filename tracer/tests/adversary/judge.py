# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Runs models in TensorFlow Lite Micro (package tflite-micro) for the adversary, for as long as its standard input
# lasts. A request is a line of JSON, followed by as many bytes of a model as the line says; the answer is a line of
# JSON. The model that the others have to agree with comes first, as "reference"; then, as often as one likes, what is
# to be the same with a plan, with the offsets of mutants of that plan. Those may break the process, and run in a copy
# of it; the answer is then null. So does a "library", which is the reference as C, compiled.

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


# Bytes on both sides of an arena, at least, that must stay as they are.
GUARD_BYTES = 64


class LibraryError(Exception):
    """A generated library does something else than it should."""


class LibraryContext:
    """A context of a generated library. Its arena is as large and as aligned as declared, and no more."""

    def __init__(self, functions, library, seed):
        self.functions, self.library = functions, library
        size, alignment = library["arena_bytes"], library["alignment"]
        self.memory = numpy.random.default_rng(seed).integers(
            0, 256, size + 2 * GUARD_BYTES + 8 * alignment, dtype=numpy.uint8
        )
        first = self.memory.ctypes.data + GUARD_BYTES
        self.start = GUARD_BYTES + (alignment - first) % (4 * alignment)
        self.guards = self.outside()
        # The structure holds one pointer.
        self.context = ctypes.c_void_p()
        self.call("init", ctypes.c_void_p(self.memory.ctypes.data + self.start), ctypes.c_size_t(size))

    def outside(self):
        end = self.start + self.library["arena_bytes"]
        return self.memory[: self.start].tobytes(), self.memory[end:].tobytes()

    def call(self, name, *arguments):
        status = self.functions[self.library["prefix"] + name](ctypes.byref(self.context), *arguments)
        if status != 0:
            raise LibraryError(f"{name} returns {status}")

    def address(self, name):
        function = self.functions[self.library["prefix"] + name]
        function.restype = ctypes.c_void_p
        return function(ctypes.byref(self.context))

    def store(self, inputs):
        for name, values in zip(self.library["inputs"], inputs, strict=True):
            content = values.tobytes()
            ctypes.memmove(self.address(name), content, len(content))

    def infer(self, inputs, expected):
        self.call("invoke")
        if self.outside() != self.guards:
            raise LibraryError("it stores outside its arena")
        self.compare(self.library["outputs"], expected)
        if self.library["keeps_inputs"]:
            self.compare(self.library["inputs"], [values.tobytes() for values in inputs])

    def compare(self, names, expected):
        for name, content in zip(names, expected, strict=True):
            found = ctypes.string_at(self.address(name), len(content))
            if found != content:
                at = next(index for index, pair in enumerate(zip(found, content)) if pair[0] != pair[1])
                count = sum(one != other for one, other in zip(found, content))
                at -= at % 4
                raise LibraryError(
                    f"{count} of {len(content)} bytes of {name}, from byte {at} on: "
                    f"{found[at : at + 8].hex()}, expected {content[at : at + 8].hex()}"
                )

    def swap_states(self):
        """Puts the states away and back, as a program does that serves several streams."""
        if self.library["state_bytes"] > 0:
            saved = ctypes.create_string_buffer(self.library["state_bytes"])
            self.call("save_state", saved)
            self.call("reset")
            self.call("restore_state", saved)


def library_verdict(reference, library):
    """Two contexts take turns, the second one inference later; then the first begins again."""
    keeps = library["keeps_inputs"]
    expected = reference.results(keeps)
    store_again = [True, False] if keeps else [True]
    try:
        functions = ctypes.CDLL(library["path"])
        contexts = [LibraryContext(functions, library, seed) for seed in range(2)]
        for step in range(RUNS + 1):
            active = [(context, step - lag) for lag, context in enumerate(contexts) if 0 <= step - lag < RUNS]
            for again, is_stored in enumerate(store_again):
                for context, run in active:
                    if is_stored:
                        context.store(reference.inputs[run])
                for context, run in active:
                    context.infer(reference.inputs[run], expected[run * len(store_again) + again])
            contexts[1].swap_states()
        contexts[0].call("reset")
        contexts[0].store(reference.inputs[0])
        contexts[0].infer(reference.inputs[0], expected[0])
    except (LibraryError, OSError) as error:
        return str(error)
    return "same"


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
        elif request["what"] == "library":
            library = request["library"]
            # What the child computes of the reference would be lost.
            reference.results(library["keeps_inputs"])
            answer = in_a_child(lambda: library_verdict(reference, library))
        else:
            answer = in_a_child(lambda: judged(reference, model, request, messages))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


main()
