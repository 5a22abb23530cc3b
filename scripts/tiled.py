#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# tiled.py [--check | MODEL FIRST LAST ROWS COLUMNS]: what it costs to hand models over in tiles, as docs/splitting.md has it. The
# operators FIRST to LAST of the model are computed in ROWS x COLUMNS tiles, in standard operators and with a plan; the
# file that comes out has to compute what the model computes, bit for bit, in TensorFlow Lite and in TensorFlow Lite
# Micro. The table has bytes: of activations as planned, the model's and those of both forms; of activations and of all
# else, as TensorFlow Lite Micro takes them on this machine. Ends with 1 where results or the plan's bytes differ.
# Models are looked for in $DMO_TRACE_MODELS, else beside the repository; those that are missing are named and skipped.
# With --check it prints the rows that docs/splitting.md does not have, and ends with 1 where there are some.
#
# Requirements: scripts/requirements.txt

import json
import os
import pathlib
import subprocess
import sys
import tempfile

CASES = [
    ("tflite_micro/person_detect", 0, 3, 4, 1),
    ("tflite_micro/person_detect", 0, 3, 4, 4),
    ("tflite_micro/person_detect", 0, 7, 2, 2),
    ("tflite_micro/person_detect", 0, 7, 4, 4),
    ("mlcommons_tiny/vww_96_int8", 0, 3, 2, 2),
    ("mlcommons_tiny/vww_96_int8", 0, 3, 3, 3),
    ("mlcommons_tiny/pretrainedResnet_quant", 0, 7, 2, 2),
    ("mlcommons_tiny/pretrainedResnet_quant", 0, 7, 4, 4),
    ("tinyengine/mcunet_vww", 0, 8, 3, 3),
    ("coral/mobilenet_v1_0.25_128_quant", 0, 3, 4, 4),
]

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNTIME = ROOT / "analysis/tests/runtime.py"
# The exit status of the script where the runtime does not load the model.
NOT_LOADED = 3
RUNTIMES = {"lite": "TFLite", "micro": "TFLM"}


def runtime(*arguments):
    return subprocess.run(
        [sys.executable, RUNTIME, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


def hand_over(model, numbers, out):
    command = ["cargo", "run", "--quiet", "--package", "dmo-analysis", "--example", "tiled", "--"]
    command += [model, *map(str, numbers), out]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def taken(path):
    """What TensorFlow Lite Micro takes for activations, and for all else."""
    done = runtime("arena", path)
    return [int(number) for number in done.stdout.split()] if done.returncode == 0 else [None, None]


def same(model, tiled):
    """The runtimes in which the two compute the same."""
    found = []
    for name, label in RUNTIMES.items():
        done = runtime(name, model, tiled)
        if done.returncode == 0:
            found.append(label)
        elif done.returncode != NOT_LOADED:
            sys.exit(f"{tiled}: {label} ends with {done.returncode}\n{done.stdout}{done.stderr}")
    return found


def bytes_of(number):
    return "-" if number is None else f"{number:,}"


def rows(name, numbers, folder):
    models = os.environ.get("DMO_TRACE_MODELS", ROOT.parent / "shared/models")
    model = pathlib.Path(models) / f"{name}.tflite"
    if not model.exists():
        print(f"{name}: the model is missing", file=sys.stderr)
        return []
    found = []
    out = f"{folder}/tiled"
    first, last, rows, columns = numbers
    original = taken(model)
    for report in hand_over(model, numbers, out):
        tiled = f"{out}.{report['overlaps']}.tflite"
        activations, rest = taken(tiled)
        arena = report["arena_bytes"]
        if activations not in (None, arena["device"]):
            sys.exit(f"{tiled}: {activations} bytes of activations, planned {arena['device']}")
        macs = report["multiply_accumulates"]
        cells = [
            f"{name.split('/')[-1]} {first}..{last} {rows} x {columns}",
            report["overlaps"],
            *(bytes_of(arena[form]) for form in ("original", "views", "standard")),
            bytes_of(activations),
            f"{bytes_of(original[1])} -> {bytes_of(rest)}",
            f"{report['operators'][0]} -> {report['operators'][1]}",
            f"+{100 * (macs[1] / macs[0] - 1):.1f} %",
            ", ".join(same(model, tiled)),
        ]
        found.append(f"| {' | '.join(cells)} |")
    return found


def main():
    given = sys.argv[1:]
    check = given == ["--check"]
    cases = [(given[0], *map(int, given[1:5]))] if len(given) == 5 else CASES
    heads = ["model, run, tiles", "overlaps", "model", "views", "standard", "TFLM", "TFLM, all else", "operators"]
    heads += ["multiply-accumulates", "same bits"]
    document = (ROOT / "docs/splitting.md").read_text().splitlines() if check else []
    measured, stale = 0, 0
    if not check:
        print("|", " | ".join(heads), "|")
        print("|" + "---|" * len(heads))
    for name, *numbers in cases:
        with tempfile.TemporaryDirectory() as folder:
            for row in rows(name, numbers, folder):
                measured += 1
                if row not in document:
                    stale += 1
                    print(row, flush=True)
    if check:
        print(f"docs/splitting.md: {measured} rows measured, {stale} stale")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
