#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# usage: instructions.sh OBJDUMP BUILD_FOLDER CPU
# Checks that the functions of it_block.elf hold the instructions that the example is there for.
set -eu
objdump=$1
elf=$2/it_block.elf
cpu=$3
condition='(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)'
failed=0

holds() { # function, kind, pattern of the mnemonic and its operands
  found=$("$objdump" -d --no-show-raw-insn --no-addresses --disassemble="$1" "$elf" |
    grep -E -c "^[[:space:]]+$3" || true)
  if [ "$found" -eq 0 ]; then
    failed=1
    echo "$cpu: it_block.elf: $1 holds no $2"
  else
    echo "$cpu: it_block.elf: $1: $found of $2"
  fi
}

holds load_conditionally  "conditional load in an IT block"  "ldrs?[bh]?$condition(\.w)?[[:space:]]"
holds store_conditionally "conditional store in an IT block" "str[bh]?$condition(\.w)?[[:space:]]"
holds keep_maximum        "conditional store in an IT block" "str[bh]?$condition(\.w)?[[:space:]]"
holds memcpy              "conditional load in an IT block"  "ldrs?[bh]?$condition(\.w)?[[:space:]]"
holds memcpy              "conditional store in an IT block" "str[bh]?$condition(\.w)?[[:space:]]"
holds copy_structures     "LDM"                              "ldmia(\.w)?[[:space:]]"
holds copy_structures     "STM"                              "stmia(\.w)?[[:space:]]"
holds add_in_64_bit       "LDRD"                             "ldrd[[:space:]]"
holds add_in_64_bit       "STRD"                             "strd[[:space:]]"
holds access_unaligned    "unaligned word load"              "ldr(\.w)?[[:space:]]+[a-z0-9]+, \[[a-z0-9]+, #1\]"
holds copy_recursively    "PUSH"                             "(push|stmdb)(\.w)?[[:space:]]"
holds copy_recursively    "POP"                              "(pop|ldmia)(\.w)?[[:space:]]"
if [ "$cpu" != cortex-m3 ]; then
  holds copy_float_blocks "VLDM"  "vldmia[[:space:]]"
  holds copy_float_blocks "VSTM"  "vstmia[[:space:]]"
  holds load_float        "VLDR"  "vldr[[:space:]]"
  holds sum_neighbours    "VPUSH" "vpush[[:space:]]"
  holds sum_neighbours    "VPOP"  "vpop[[:space:]]"
fi
exit $failed
