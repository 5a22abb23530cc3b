#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# usage: corpus.sh TARGET FOLDER DESTINATION CROSS_PREFIX CPU=FLAGS... -- COMPILER_FLAGS LINKER_FLAGS
# For `make TARGET`: copies build/CPU/FOLDER/*.elf to DESTINATION/CPU and writes DESTINATION/provenance.toml.
set -eu
target=$1
folder=$2
destination=$3
cross=$4
shift 4

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

mkdir -p "$destination"
{
  echo "# Written by \`make $target\` in kernels-c."
  echo
  echo "compiler = \"$("${cross}gcc" --version | head -n 1)\""
  echo "linker = \"$("${cross}ld" --version | head -n 1)\""
  echo "newlib = \"$newlib\""
  if [ "$target" = corpus ]; then
    echo "# The code that only checks results, oracle/ and examples/example.c, has -g1 instead of -g."
  fi
  echo "compiler_flags = \"$2\""
  echo "linker_flags = \"$3\""
  echo "$tables"
  for cpu in $cpus; do
    mkdir -p "$destination/$cpu"
    rm -f "$destination/$cpu"/*.elf
    from=build/$cpu/$folder
    for elf in $(LC_ALL=C ls "$from" | grep '\.elf$'); do
      cp "$from/$elf" "$destination/$cpu/$elf"
      echo "[[elf]]"
      echo "file = \"$cpu/$elf\""
      echo "size_bytes = $(wc -c <"$from/$elf")"
      echo "sha256 = \"$(sha256sum "$from/$elf" | cut -d ' ' -f 1)\""
      echo
    done
  done
} >"$destination/provenance.toml.new"
mv "$destination/provenance.toml.new" "$destination/provenance.toml"
