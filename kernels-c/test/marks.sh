#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# usage: marks.sh CROSS_PREFIX, from the folder of the Makefile
# Links a small program by several compilers and options, and checks in its stripped image that each mark is there once,
# whole, and at an address that is a multiple of four.
set -eu
cross=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/program.c" <<'PROGRAM'
#include "dmo_trace.h"
static char input[8], output[8];
#ifdef __cplusplus
extern "C"
#endif
int main(void) {
  const dmo_buffer buffers[] = {
    DMO_BUFFER("input", DMO_INPUT, DMO_INT8, input, sizeof input),
    DMO_BUFFER("output", DMO_OUTPUT, DMO_INT8, output, sizeof output),
  };
  dmo_layer_begin("copy", "copy", buffers, 2);
  output[0] = input[0];
  dmo_layer_end();
  return 0;
}
PROGRAM

# The offsets, in bytes, of bx lr, nop and the given characters.
offsets() {
  LC_ALL=C grep -obUaP "\x70\x47\x00\xbf\Q$1\E" "$work/image" | cut -d: -f1
}

check() { # description
  "${cross}objcopy" --strip-all "$work/program.elf"
  "${cross}objcopy" -O binary "$work/program.elf" "$work/image"
  for text in DMO-TRACE-BEGIN1 DMO-TRACE-END..1; do
    at=$(offsets "$text")
    if [ "$(echo "$at" | wc -w)" -ne 1 ] || [ $((at % 4)) -ne 0 ]; then
      echo "$1: $text found at offsets: $at"
      exit 1
    fi
  done
  echo "$1: marks found"
}

link="-nostartfiles -nostdlib -Tboard/link.ld -Wl,--gc-sections -Wl,--no-warn-rwx-segments"
link="$link -Wl,--undefined=main -Wl,--entry=main"
flags="-mcpu=cortex-m4 -mthumb -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -Imarks -Wall -Wextra -Werror"
for level in -O0 -O1 -O2 -O3 -Os "-O2 -flto" "-O3 -flto" "-O0 -flto"; do
  "${cross}gcc" $flags $level "$work/program.c" marks/dmo_trace.c $link -o "$work/program.elf"
  check "${cross}gcc $level"
  "${cross}g++" $flags $level -fno-exceptions -x c++ "$work/program.c" marks/dmo_trace.c -x none $link \
    -o "$work/program.elf"
  check "${cross}g++ $level"
done
if command -v clang >/dev/null; then
  for level in -O0 -O1 -O2 -O3 -Os; do
    for language in c c++; do
      for source in "$work/program.c" marks/dmo_trace.c; do
        clang --target=thumbv7em-none-eabi -ffreestanding $flags -fno-exceptions $level \
          -x $language -c "$source" -o "$work/$(basename "$source" .c).o"
      done
      "${cross}gcc" $flags "$work/program.o" "$work/dmo_trace.o" $link -o "$work/program.elf"
      check "clang $level $language"
    done
  done
fi
