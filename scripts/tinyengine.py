#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# tinyengine.py TINYENGINE CMSIS_5: makes the table of docs/build.md that compares with TinyEngine on a network of its
# own. TINYENGINE is a checkout of github.com/mit-han-lab/tinyengine, CMSIS_5 one of github.com/ARM-software/CMSIS_5 at
# the commit that it names as its submodule. Its code generator runs as its examples run it, its C is compiled with the
# options that it names (-Ofast) for a Cortex-M4, and what comes of it runs under the emulator as `build`'s libraries do.
#
# It needs arm-none-eabi-gcc, the program, $DMO_TRACE or target/release/dmo-trace, and what the generator imports:
# numpy < 2, flatbuffers, matplotlib and tqdm.

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import real_models

MODEL = "assets/vww.tflite"
FLAGS = ["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-Ofast", "-std=gnu11", "-w"]
SECTIONS = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
# Flash and SRAM of an STM32L4.
FLASH = "0x08000000:1M"
PLACES = ["-Wl,-Ttext=0x08008000", "-Wl,--section-start=.init=0x08000000", "-Wl,-Tdata=0x20000000"]
# Rows and columns of patches, and the operator before which they end, of its example of patches.
PATCHES = (2, 5)
OUTSIDE = "outside, its 19,200 bytes not counted"

MAIN = """
#include <stdint.h>
#include <stdio.h>
static signed char out[2];
#ifdef EMPTY
static signed char image[4];
__attribute__((noinline)) void infer(signed char *in, signed char *o) { o[0] = in[0]; }
#else
extern signed char *getInput(void), *getOutput(void);
extern void end2endinference(signed char *image), invoke(float *labels);
#ifdef PATCHED
static signed char image[BYTES];
#endif
__attribute__((noinline)) void infer(signed char *in, signed char *o) {
#ifdef PATCHED
  end2endinference(in);
#else
  (void)in;
  invoke(0);
#endif
  o[0] = getOutput()[0];
  o[1] = getOutput()[1];
}
#endif
int main(void) {
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;
  __asm volatile("dsb\\nisb");
#if defined(EMPTY) || defined(PATCHED)
  signed char *in = image;
#else
  signed char *in = getInput();
#endif
#ifndef EMPTY
  uint32_t state = 12345;
  for (int i = 0; i < BYTES; i++) {
    state = state * 1103515245u + 12345u;
    in[i] = (signed char)(state >> 24);
  }
#endif
  infer(in, out);
  printf("outputs: %d and %d\\n", out[0], out[1]);
  return 0;
}
"""

FORMS = [
    ("`build --integer-io`", "in the arena", []),
    ("`build --integer-io`, rows kept", "in the arena", ["--allow", "prune,remove,cache", "--max-recompute", "0%"]),
    ("the same with `--slices`", "in rows", ["--allow", "prune,remove,cache", "--max-recompute", "0%", "--slices"]),
]


def generate(tinyengine, folder, patches):
    """Runs its generator in a folder, in a process of its own, as its examples do."""
    code = f"""
import sys
sys.path.insert(0, {str(tinyengine)!r})
from code_generator.CodeGenerator import CodeGenerator
from code_generator.GeneralMemoryScheduler import GeneralMemoryScheduler
from code_generator.InputResizer import PatchResizer
from code_generator.PatchBasedUtil import getPatchParams
from code_generator.TfliteConvertor import TfliteConvertor
converter = TfliteConvertor({str(tinyengine / MODEL)!r})
converter.parseOperatorInfo()
patch = None
if {patches!r}:
    patch = getPatchParams(converter.layer, {patches[1] if patches else 0}, {patches[0] if patches else 0})
    PatchResizer(converter.layer).patchResize(patch["layer_cnt"], patch["grain_rf"], patch["grain_rf_height"])
memory = GeneralMemoryScheduler(converter.layer, False, False, outputTables=[], inplace=True, VisaulizeTrainable=False,
                                mem_visual_path="life.png")
memory.USE_INPLACE = True
memory.allocateMemory()
CodeGenerator(memsche=memory, inplace=True, unsigned_input=False, patch_params=patch, FP_output=False,
              profile_mode=False, fp_requantize=True, tflite_op=False, dummy_address=False,
              outputTables=getattr(converter, "outputTables", [])).codeGeneration()
"""
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True)
    return folder / "codegen"


def compiled(folder, name, sources, includes, defines):
    program = folder / f"{name}.elf"
    options = [*FLAGS, *SECTIONS, *PLACES, "--specs=rdimon.specs", *includes, *defines]
    subprocess.run(["arm-none-eabi-gcc", *options, *map(str, sources), "-lm", "-o", program], check=True)
    size = subprocess.run(["arm-none-eabi-size", program], check=True, capture_output=True, text=True)
    text, data, bss = map(int, size.stdout.splitlines()[1].split()[:3])
    return program, text + data, data + bss


def measured(tinyengine, cmsis, patches):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        code = generate(tinyengine, folder, patches)
        main = folder / "main.c"
        main.write_text(MAIN)
        places = [code / "Include", tinyengine / "TinyEngine/include"]
        places += [cmsis / f"CMSIS/{part}/Include" for part in ["NN", "DSP", "Core"]]
        includes = [f"-I{place}" for place in places]
        kernels = tinyengine / "TinyEngine/src/kernels"
        sources = [*kernels.glob("int_forward_op/*.c"), *kernels.glob("fp_requantize_op/*.c"), *code.glob("Source/*.c")]
        image = 3 * 80 * 80
        defines = [f"-DBYTES={image}", "-D__FPU_PRESENT=1", *(["-DPATCHED"] if patches else [])]
        program, flash, ram = compiled(folder, "te", [main, *compiling(folder, sources, includes, defines)], [], defines)
        _, base_flash, base_ram = compiled(folder, "empty", [main], [], ["-DEMPTY"])
        layer = f"infer=infer(in: r0 size {image}, out: r1 size 2)"
        run = ["run", program, "--cpu", "cortex-m4", "--flash-part", "stm32l4", "--flash", FLASH, "--layer", layer]
        run += ["--inputs", "1", "--json"]
        result = subprocess.run([real_models.PROGRAM, *run], capture_output=True, text=True, check=True)
        print(result.stderr.strip(), file=sys.stderr)
        report = json.loads(result.stdout)
        outside = image if patches else 0
        ram += report["ram"]["layer_stack_bytes"][0] - base_ram - outside
        cycles = report["cycles"]["layers"][0]["total"]
        layer = report["layers"][0]
        return ram, flash - base_flash, layer["end"] - layer["begin"], cycles


def compiling(folder, sources, includes, defines):
    """The objects of what compiles: some kernels are for training, or for code that was not generated."""
    for source in sources:
        target = folder / f"{source.stem}.o"
        command = ["arm-none-eabi-gcc", *FLAGS, *SECTIONS[:2], *includes, *defines, "-c", source, "-o", target]
        if subprocess.run(command, capture_output=True).returncode == 0:
            yield target


def built(model, options):
    with tempfile.TemporaryDirectory() as folder:
        out = ["--out", Path(folder) / "library", "--prove", "--flash-part", "stm32l4", "--integer-io"]
        result = subprocess.run(
            [real_models.PROGRAM, "build", model, *out, *options, "--json"], capture_output=True, text=True
        )
        proof = json.loads(result.stdout)["proof"]
        return proof["ram_bytes"], proof["flash_bytes"], proof["instructions"], proof["cycles"]["total"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tinyengine", type=Path)
    parser.add_argument("cmsis", type=Path)
    given = parser.parse_args()
    tinyengine, cmsis = given.tinyengine.resolve(), given.cmsis.resolve()
    print("| code | image | RAM, stack included | flash | instructions | cycles |\n|---|---|---:|---:|---:|---:|")
    for name, image, patches in [
        ("TinyEngine", "in the arena", None),
        (f"TinyEngine, {PATCHES[0]} x {PATCHES[0]} patches, as in its example", OUTSIDE, PATCHES),
    ]:
        figures = measured(tinyengine, cmsis, patches)
        print(f"| {name} | {image} | " + " | ".join(f"{figure:,}" for figure in figures) + " |", flush=True)
    for name, image, options in FORMS:
        figures = built(tinyengine / MODEL, options)
        print(f"| {name} | {image} | " + " | ".join(f"{figure:,}" for figure in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
