#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# costs.py [--check]: runs `cargo bench` of dmo-trace and writes the table of docs/performance.md anew. With
# --check it ends with 1 where a figure has become more than a quarter worse than the table says. For a machine that does
# nothing else; it needs valgrind, and the two real models in $DMO_TRACE_MODELS or beside the repository.

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
# Each figure of a row: in the first column for the convolution, in the second for the depthwise one.
PROGRAMS = ("bench_conv2d", "bench_depthwise")
WORSE_AT_MOST = 1.25


def first(pattern, text):
    match = re.search(pattern, text)
    if not match:
        sys.exit(f"cargo bench has not printed what matches {pattern}")
    return float(match[1])


def figures(printed):
    """Rows of the table: how a line of the page begins, and what its figures are, in order."""
    parts = [printed.split(f"{name}: layer of", 1)[-1] for name in PROGRAMS]
    each = lambda pattern: [first(pattern, part) for part in parts]
    kernels = {"conv": [], "depthwise": []}
    for kind, ratio in re.findall(r"^(?:reference|dsp)\s+(conv|depthwise).*: +([\d.]+) times \+", printed, re.M):
        kernels[kind].append(float(ratio))
    if not all(kernels.values()):
        sys.exit("cargo bench has not printed what a kernel costs")
    verified = [
        first(r"dsp mlcommons_tiny/vww_96_int8.tflite: .* ([\d.]+) times", printed),
        first(r"reference tflite_micro/person_detect.tflite: .* ([\d.]+) times", printed),
    ]
    return [
        ("| traced and analysed,", each(r"traced and analysed +([\d.]+) times")),
        ("| the same, and saved", each(r"and saved +([\d.]+) times")),
        ("| saved trace", each(r"saved trace +([\d.]+) bytes")),
        ("| resident memory", each(r"resident +([\d.]+) MB")),
        ("| valgrind's lackey", each(r"valgrind lackey.* ([\d.]+) times")),
        ("| `dmo-trace verify`", verified),
        ("| `dmo-trace overlap`", [max(kernels["conv"]), max(kernels["depthwise"])]),
    ]


def renewed(line, values):
    """The line with these figures, each with as many decimals as the old one has."""
    heading, *cells = line.rstrip(" |").split(" | ")
    worse = []
    for place, value in enumerate(values):
        old = re.search(r"(\d+(?:\.\d+)?)(?= (?:times|bytes|MB))", cells[place])
        decimals = len(old[1].partition(".")[2])
        # What dmo-trace is compared with: less is worse.
        before, now = float(old[1]), round(value, decimals)
        if heading.startswith(("| valgrind", "| `dmo-trace verify`")):
            before, now = now, before
        if now > before * WORSE_AT_MOST:
            worse.append(f"{heading.lstrip('| ')}: {old[1]}, now {value:.{decimals}f}")
        cells[place] = cells[place][: old.start()] + f"{value:.{decimals}f}" + cells[place][old.end() :]
    return " | ".join([heading, *cells]) + " |", worse


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"usage: {sys.argv[0]} [--check]")
    command = ["cargo", "bench", "--locked", "--no-fail-fast", "--package", "dmo-trace"]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    lines, worse = PAGE.read_text().splitlines(), []
    for start, values in figures(done.stdout):
        place = next(at for at, line in enumerate(lines) if line.startswith(start))
        lines[place], found = renewed(lines[place], values)
        worse += found
    if "--check" in sys.argv:
        print("\n".join(worse) or f"{PAGE.name}: no figure is more than a quarter worse")
        return 1 if worse else 0
    PAGE.write_text("\n".join(lines) + "\n")
    return 0


sys.exit(main())
