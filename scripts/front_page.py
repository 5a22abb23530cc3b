#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# front_page.py [--check]: makes the table on README.md's first screen anew, by the commands that are named below it.
# With --check it leaves the file as it is, and ends with 1 where a figure is not today's. Models are looked for in
# $DMO_TRACE_MODELS, else beside the repository; those that are missing are named, and keep their row. $DMO_TRACE is the
# program, by default as cargo builds it.

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "README.md"
MODELS = pathlib.Path(os.environ.get("DMO_TRACE_MODELS", ROOT.parent / "shared/models"))
PROGRAM = os.environ.get("DMO_TRACE")
COMMAND = [PROGRAM] if PROGRAM else ["cargo", "run", "--quiet", "--locked", "--package", "dmo-trace", "--"]
ROW = re.compile(r"^\| `(\w+)` \|(?: [\d,]+ \|){5}$")


def figure(arguments, pattern):
    """What a command says, as it says it."""
    done = subprocess.run([*COMMAND, *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    found = re.search(pattern, done.stdout)
    if not found:
        sys.exit(f"dmo-trace {' '.join(arguments)} has not printed what matches {pattern}")
    return found[1]


def row(name, model, folder):
    plan = ["plan", model]
    needed = r"kTensorArenaSize [\d,]+ -> ([\d,]+) bytes with the reference kernels"
    build, ram = ["build", model, "--prove", "--out"], r"RAM: +([\d,]+) bytes"
    in_folder = lambda file: str(pathlib.Path(folder) / file)
    emitted = lambda file: ["--out", in_folder(file)]
    figures = [
        figure(["arena", model], r"kTensorArenaSize ([\d,]+) bytes with the reference kernels"),
        figure([*plan, *emitted("planned.tflite")], needed),
        figure([*plan, "--allow", "split,patch", *emitted("tiled.tflite")], needed),
        figure([*build, in_folder("fastest")], ram),
        figure([*build, in_folder("smaller"), "--allow", "prune,remove,split,patch,cache"], ram),
    ]
    return f"| `{name}` | {' | '.join(figures)} |"


def steady(line):
    """A row without its last figure, of a search that the clock may end sooner on a slow machine."""
    return line.split(" | ")[:-1]


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"usage: {sys.argv[0]} [--check]")
    lines, stale, rows = PAGE.read_text().splitlines(), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for place, line in enumerate(lines):
            if not (found := ROW.match(line)):
                continue
            rows += 1
            model = next((str(path) for path in sorted(MODELS.rglob(f"{found[1]}.tflite"))), None)
            if model is None:
                print(f"{found[1]}.tflite is missing", file=sys.stderr)
                continue
            lines[place] = row(found[1], model, folder)
            if steady(lines[place]) != steady(line):
                stale.append(lines[place])
    if rows == 0:
        sys.exit(f"{PAGE.name} has no row of the table")
    if "--check" in sys.argv:
        print("\n".join(stale) or f"{PAGE.name}: the figures of {rows} models are today's")
        return 1 if stale else 0
    PAGE.write_text("\n".join(lines) + "\n")
    return 0


sys.exit(main())
