#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# savings.py [--check [--all]]: makes the tables of docs/savings.md anew, row by row, from `dmo-trace savings --json`.
# With --check it leaves them as they are, and ends with 1 where a figure is not today's; a few networks of the zoo and
# the smaller real models then stand for all, with --all it is every row. Real models are looked for in
# $DMO_TRACE_MODELS, else beside the repository; those that are missing are named and skipped. $DMO_TRACE is the program,
# by default as cargo builds it.

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/savings.md"
MODELS = pathlib.Path(os.environ.get("DMO_TRACE_MODELS", ROOT.parent / "shared/models"))
PROGRAM = os.environ.get("DMO_TRACE")
COMMAND = [PROGRAM] if PROGRAM else ["cargo", "run", "--quiet", "--locked", "--package", "dmo-trace", "--"]
# Multiply-accumulates of the largest model that is run.
RUN = "100M"
# Of the networks, every so many is checked.
STRIDE = 8
# Models of fewer bytes than this are checked.
SMALL_BYTES = 100_000

ARENA_ROW = re.compile(r"^\| `([^`]+)`( \\\*)? \|( [\d,]+ \|){10} [\d.]+ % \|$")
INSTRUCTION_ROW = re.compile(r"^\| `([^`]+)` \| [\d,]+ \| [\d,]+ \| [-+][\d.]+ % \|$")


class Slow(Exception):
    """The clock has stopped a search, so that its figures are this machine's."""


def find(name):
    """What the command line calls a model; None where it is missing."""
    if name.startswith("zoo:"):
        return name
    return next((str(path) for path in sorted(MODELS.rglob(f"{name}.tflite"))), None)


def measure(model, run):
    command = [*COMMAND, "savings", model, "--align", "1", "--json"] + (["--run", RUN] if run else [])
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{model}: {done.stderr}")
    if "ran out of time" in done.stderr:
        raise Slow
    return json.loads(done.stdout)["models"][0]


def arena_row(name, saved):
    rows = {row["added"]: row for row in saved["rows"]}
    extra = rows["+ tiles, up to 10 %"]["extra_macs"]
    star = "" if saved["complete"] else " \\*"
    cells = [f"`{name}`{star}"]
    cells += [f"{row['arena_bytes']:,}" for row in saved["rows"]]
    cells.append(f"{100 * extra / max(saved['macs'], 1):.2f} %")
    return "| " + " | ".join(cells) + " |"


def instruction_row(name, saved):
    rows = {row["added"]: row["instructions"] for row in saved["rows"]}
    plain, tiled = rows["planned"], rows["+ tiles, up to 10 %"]
    if plain is None or tiled is None:
        return f"| `{name}` | - | - | - |"
    return f"| `{name}` | {plain:,} | {tiled:,} | {100 * (tiled - plain) / plain:+.1f} % |"


def is_checked(number, model):
    if model.startswith("zoo:"):
        return number % STRIDE == 0
    return os.path.getsize(model) < SMALL_BYTES


def main():
    if sys.argv[1:] not in ([], ["--check"], ["--check", "--all"]):
        sys.exit(f"usage: {sys.argv[0]} [--check [--all]]")
    check, everything = "--check" in sys.argv, "--check" not in sys.argv or "--all" in sys.argv
    lines = DOCUMENT.read_text().splitlines()
    run = {match[1] for line in lines if (match := INSTRUCTION_ROW.match(line))}
    measured, stale, seen, missing, slow = {}, [], 0, [], []
    for number, line in enumerate(lines):
        kind = next((kind for kind in (ARENA_ROW, INSTRUCTION_ROW) if kind.match(line)), None)
        if kind is None:
            continue
        name = kind.match(line)[1]
        model = find(name)
        if model is None:
            missing.append(name)
            continue
        if not everything and not (kind is ARENA_ROW and is_checked(number, model)):
            continue
        try:
            if name not in measured:
                print(f"{name} ...", file=sys.stderr)
                measured[name] = measure(model, everything and name in run)
        except Slow:
            slow.append(name)
            continue
        seen += 1
        today = (arena_row if kind is ARENA_ROW else instruction_row)(name, measured[name])
        if today != line:
            stale.append(f"{name}:\n  was   {line}\n  today {today}")
            lines[number] = today
    if not check:
        DOCUMENT.write_text("\n".join(lines) + "\n")
    for text in stale:
        print(text)
    if missing:
        print(f"missing, so not measured: {', '.join(sorted(set(missing)))}")
    if slow:
        print(f"this machine is too slow for {', '.join(slow)}: the clock has stopped their search")
    print(f"{seen} rows of {DOCUMENT.name} measured, {len(stale)} {'stale' if check else 'written anew'}")
    return 1 if seen == 0 or (check and stale) else 0


sys.exit(main())
