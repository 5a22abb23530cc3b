#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Makes the table of docs/build.md: what real models need as C libraries, as compiled, and in stock TensorFlow Lite Micro.
#
# build_table.py [--cmsis-nn libcmsis-nn.a] [--write]: prints the table, or writes it into the page. Models are looked for
# in $DMO_TRACE_MODELS, else beside the repository; those that are missing have no rows. It needs arm-none-eabi-gcc and
# the program, $DMO_TRACE or target/release/dmo-trace.

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import real_models

# 8-bit models of other quantisation, too.
MODELS = [*real_models.INT8, "coral/mobilenet_v1_0.25_128_quant.tflite", "coral/mobilenet_v2_1.0_224_quant.tflite"]
ROWS_KEPT = ["--allow", "prune,remove,cache", "--max-recompute", "0%"]
TILES = ["--allow", "prune,remove,split,patch,cache"]
FORMS = [
    ("fastest", []),
    ("rows kept", ROWS_KEPT),
    ("10 % again", [*TILES, "--max-recompute", "10%"]),
    ("25 % again", [*TILES, "--max-recompute", "25%"]),
    ("in rows, rows kept", [*ROWS_KEPT, "--slices"]),
    ("in rows, 10 % again", [*TILES, "--slices", "--max-recompute", "10%"]),
    ("in rows, 25 % again", [*TILES, "--slices", "--max-recompute", "25%"]),
]
HEADER = ["model", "form", "arena", "RAM in all", "flash", "instructions", "cycles", "cycles a MAC"]


def dmo_trace(*arguments):
    result = subprocess.run([real_models.PROGRAM, *arguments, "--json"], capture_output=True, text=True)
    return json.loads(result.stdout) if result.returncode in (0, 1) and result.stdout else None


def number(value):
    return "" if value is None else f"{value:,}"


def stock(model, kernels, library):
    """The stock runtime: its whole arena, and the instructions and cycles of its kernels alone."""
    arenas = dmo_trace("arena", model)
    arenas = arenas["models"][0]["arenas"] if arenas else []
    whole = next((arena["needed_bytes"] for arena in arenas if arena["kernels"] == kernels), None)
    verified = dmo_trace("verify", model, "--kernels", library, "--inputs", "1", "--flash-part", "stm32l4")
    cycles = verified and verified["cycles"]
    return whole, verified and verified["instructions"], cycles and cycles["total"]


def rows(model, cmsis_nn):
    name = Path(model).stem
    dense = None
    forms, seen = [], []
    for form, options in FORMS:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "library"
            built = dmo_trace("build", model, "--out", out, "--prove", "--flash-part", "stm32l4", *options)
        if built is None or not built["safe"]:
            continue
        dense = dense or built["macs"]
        proof = built["proof"]
        # What costs more work has to need less RAM.
        if seen and proof["ram_bytes"] >= min(seen):
            continue
        seen.append(proof["ram_bytes"])
        cycles = proof["cycles"]["total"]
        forms.append(
            [
                name,
                f"`build`, {form}",
                number(built["arena_bytes"]),
                number(proof["ram_bytes"]),
                number(proof["flash_bytes"]),
                number(proof["instructions"]),
                number(cycles),
                f"{cycles / dense:.2f}",
            ]
        )
    kernels = [("reference", "reference")] + ([("cmsis-nn", cmsis_nn)] if cmsis_nn else [])
    for runtime, library in kernels:
        found = stock(model, runtime, library)
        if found:
            whole, instructions, cycles = found
            ratio = f"{cycles / dense:.2f}" if cycles and dense else ""
            row = [name, f"stock, {runtime}", number(whole), "", "", number(instructions), number(cycles), ratio]
            yield row
    yield from forms


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmsis-nn")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = ["| " + " | ".join(HEADER) + " |", "|---|---|" + "---:|" * (len(HEADER) - 2)]
    for model in real_models.found(MODELS):
        for row in rows(model, arguments.cmsis_nn):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], file=sys.stderr)
    table = "\n".join(lines) + "\n"
    if not arguments.write:
        print(table, end="")
        return
    real_models.replace_section("build.md", "build_table.py", table)


main()
