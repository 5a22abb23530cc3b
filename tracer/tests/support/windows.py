# SPDX-License-Identifier: MIT OR Apache-2.0
#
# windows.py WINDOW.tflite ROWS.tflite: on how many windows TensorFlow Lite Micro computes the same by a model that takes
# a whole window as by one that takes its newest rows.

import sys

import numpy
from tflite_micro.python.tflite_micro import runtime

WINDOWS = 40

window, rows = (runtime.Interpreter.from_file(path) for path in sys.argv[1:3])
count = window.get_input_details(0)["shape"][1]
shape = rows.get_input_details(0)["shape"]
random = numpy.random.default_rng(7)
stored, equal, outputs = [], 0, set()
for number in range(count - 1 + WINDOWS):
    stored.append(random.integers(-128, 128, size=shape, dtype=numpy.int8))
    rows.set_input(stored[-1], 0)
    rows.invoke()
    if len(stored) >= count:
        window.set_input(numpy.concatenate(stored[-count:], axis=1), 0)
        window.invoke()
        expected = window.get_output(0)
        equal += int((rows.get_output(0) == expected).all())
        outputs.add(expected.tobytes())
print(f"{WINDOWS} windows, {equal} equal, {len(outputs)} different outputs")
sys.exit(len(outputs) < 2)
