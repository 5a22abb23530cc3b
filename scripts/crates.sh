#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Packs the crates as they would be published, unpacks them into an empty folder outside of the repository, builds the
# program there without Unicorn and without the network, and runs a command of it: whatever a crate needs has to be in
# its package. What the repository's own build has compiled of others is used again.
#
# Usage: scripts/crates.sh [--list]
#   --list  only packs and lists: seconds
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
repository=$PWD
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
# In the order in which they can be published.
crates=(dmo-planner dmo-engine dmo-kernels dmo-analysis dmo-plot dmo-trace)
# crates.io takes no larger packages.
readonly max_bytes=10000000

packages=("${crates[@]/#/--package=}")
rm -f "$target"/package/*.crate
# Each is built below; with all features that would take many minutes.
cargo package --locked --quiet --no-verify --allow-dirty "${packages[@]}"
files=()
for crate in "${crates[@]}"; do
  file=$(echo "$target/package/$crate"-[0-9]*.crate)
  bytes=$(stat --format=%s "$file")
  printf '%9d bytes, %4d files: %s\n' "$bytes" "$(tar --list --file="$file" | wc -l)" "${file##*/}"
  if [ "$bytes" -gt $max_bytes ]; then
    echo "$file: larger than $max_bytes bytes" >&2
    exit 1
  fi
  files+=("$file")
done
[ "${1:-}" != --list ] || exit 0

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for file in "${files[@]}"; do
  tar --extract --gzip --file="$file" --directory="$folder"
done
{
  echo '[workspace]'
  echo 'resolver = "3"'
  echo 'members = ["dmo-*"]'
  echo '[patch.crates-io]'
  for file in "${files[@]}"; do
    name=$(basename "$file" .crate)
    echo "${name%-[0-9]*} = { path = \"$name\" }"
  done
  # With the same profiles as here, what is compiled fits.
  sed -n '/^\[profile\./,$p' "$repository/Cargo.toml"
} >"$folder/Cargo.toml"
cp "$repository/Cargo.lock" "$folder"
cd "$folder"
CARGO_TARGET_DIR=$target cargo build --offline --package dmo-trace --no-default-features
# With an image and with sources of the package dmo-kernels.
program=$target/debug/dmo-trace
"$program" plan zoo:mobilenet_v1_0.25_128:int8 --overlap traced --kernels dsp | grep '^Arena: '
"$program" build "$repository/tracer/tests/golden/stand_in_vision_int8.tflite" --out model >/dev/null
ls model/src/*.c >/dev/null
