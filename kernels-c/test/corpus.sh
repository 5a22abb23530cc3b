#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# usage: corpus.sh DESTINATION CROSS_PREFIX CPU=FLAGS... -- COMPILER_FLAGS LINKER_FLAGS
# Copies build/CPU/*.elf to DESTINATION/CPU and writes DESTINATION/provenance.toml.
set -eu
destination=$1
cross=$2
shift 2

newlib=$(echo '#include <newlib.h>' | "${cross}gcc" -E -dM - | sed -n 's/^#define _NEWLIB_VERSION "\(.*\)"$/\1/p')
cpus=
tables=
while [ "$1" != -- ]; do
  cpu=${1%%=*}
  cpus="$cpus $cpu"
  tables="$tables
[cpu.$cpu]
flags = \"${1#*=}\"
"
  shift
done

{
  echo "# Written by \`make corpus\` in kernels-c."
  echo
  echo "compiler = \"$("${cross}gcc" --version | head -n 1)\""
  echo "linker = \"$("${cross}ld" --version | head -n 1)\""
  echo "newlib = \"$newlib\""
  echo "# The code that only checks results, oracle/ and examples/example.c, has -g1 instead of -g."
  echo "compiler_flags = \"$2\""
  echo "linker_flags = \"$3\""
  echo "$tables"
  for cpu in $cpus; do
    mkdir -p "$destination/$cpu"
    rm -f "$destination/$cpu"/*.elf
    for elf in $(LC_ALL=C ls "build/$cpu" | grep '\.elf$'); do
      cp "build/$cpu/$elf" "$destination/$cpu/$elf"
      echo "[[elf]]"
      echo "file = \"$cpu/$elf\""
      echo "size_bytes = $(wc -c <"build/$cpu/$elf")"
      echo "sha256 = \"$(sha256sum "build/$cpu/$elf" | cut -d ' ' -f 1)\""
      echo
    done
  done
} >"$destination/provenance.toml.new"
mv "$destination/provenance.toml.new" "$destination/provenance.toml"
