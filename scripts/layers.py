#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Makes the tables of docs/layers.md: what kernel libraries take for each layer of the int8 models, by `dmo-trace layers`.
#
# layers.py [--cmsis-nn libcmsis-nn.a] [--write]: prints the tables, or writes them into the page. Models are looked for
# in $DMO_TRACE_MODELS, else beside the repository; those that are missing have no table. The program is $DMO_TRACE or
# target/release/dmo-trace.

import argparse
import subprocess
import sys

import real_models

MODELS = [*real_models.INT8, "tflite_micro/hello_world_int8.tflite"]


def main():
    parser = argparse.ArgumentParser(description="Makes the tables of docs/layers.md.")
    parser.add_argument("--cmsis-nn", metavar="FILE", help="a build of CMSIS-NN for the Cortex-M4, to compare with")
    parser.add_argument("--write", action="store_true", help="write the tables into the page")
    arguments = parser.parse_args()
    models = real_models.found(MODELS)
    if not models:
        sys.exit(f"there is no model in {real_models.FOLDER}")
    libraries = [*filter(None, [arguments.cmsis_nn]), "dsp", "dsp-packed"]
    kernels = [word for library in libraries for word in ("--kernels", library)]
    command = [real_models.PROGRAM, "layers", *models, *kernels, "--cpu", "cortex-m4", "--flash-part", "stm32l4"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"dmo-trace layers ended with {done.returncode}")
    # A heading for each model, in place of the line that begins with its name.
    lines = done.stdout.splitlines()
    names = {f"{model.name}: ": model.stem for model in models}
    text = ""
    for line in lines:
        name = next((name for start, name in names.items() if line.startswith(start)), None)
        text += f"### {name}\n\n{line.split(': ', 1)[1]}\n" if name else f"{line}\n"
    if not arguments.write:
        sys.stdout.write(text)
        return
    real_models.replace_section("layers.md", "layers.py", f"\n{text}\n")


if __name__ == "__main__":
    main()
