#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds the program as it is handed out, without Unicorn, packs it into dmo-trace-VERSION-TARGET.tar.gz, and tries the
# archive: unpacked into an empty folder, the first command of its README has to work.
#
# Usage: scripts/dist.sh [--target TRIPLE] [--out DIR]
#   --target  default x86_64-unknown-linux-musl: linked statically, it runs on any Linux on x86-64
#   --out     default target/dist
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/packages.sh
source scripts/reproducible.sh

target=x86_64-unknown-linux-musl
out=target/dist
readonly max_bytes=20000000
readonly first_result_seconds=60

while [ $# -gt 0 ]; do
  case "$1 ${2:+value}" in
    "--target value") target=$2 ;;
    "--out value") out=$2 ;;
    *)
      echo "scripts/dist.sh [--target TRIPLE] [--out DIR]; not '$*'" >&2
      exit 2
      ;;
  esac
  shift 2
done

fail() { # MESSAGE...
  echo "$*" >&2
  exit 1
}

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name=dmo-trace-$version-$target

collect() { # FOLDER
  mkdir -p "$1"/{man/man1,completions,LICENSES}
  cp "$binary" "$1/dmo-trace"
  "$binary" man --out "$1/man/man1"
  "$binary" completions bash >"$1/completions/dmo-trace.bash"
  "$binary" completions fish >"$1/completions/dmo-trace.fish"
  "$binary" completions zsh >"$1/completions/_dmo-trace"
  cp packaging/archive.md "$1/README.md"
  cp CHANGELOG.md LICENSE "$1"
  cp LICENSES/{MIT,Apache-2.0,Bitstream-Vera}.txt "$1/LICENSES"
  scripts/third_party.py "$target" --no-default-features >"$1/THIRD-PARTY.txt"
}

pack() { # FOLDER: its content is what is packed
  mkdir -p "$out"
  tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --mtime="@$SOURCE_DATE_EPOCH" --directory="$1" "$name" | gzip -9 --no-name >"$out/$name.tar.gz"
  (cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
}

try() {
  local folder=$scratch/tried command start
  mkdir "$folder"
  (cd "$out" && sha256sum --check --quiet "$name.tar.gz.sha256")
  tar --extract --gzip --file="$out/$name.tar.gz" --directory="$folder"
  [ "$(stat --format=%s "$folder/$name/dmo-trace")" -le $max_bytes ] || fail "The program has more than $max_bytes bytes"
  ! grep --quiet --text --fixed-strings --regexp="$PWD/" --regexp="$HOME/" "$folder/$name/dmo-trace" ||
    fail "The program names folders of this machine"
  command=$(awk '/^```/ { if (inside) exit; inside = 1; next } inside { print; exit }' "$folder/$name/README.md")
  echo "\$ $command"
  start=$(date +%s%N)
  (cd "$folder/$name" && timeout $first_result_seconds env -i PATH=/usr/bin:/bin HOME="$folder" sh -c "$command") \
    >"$scratch/result" || fail "The first command of the README fails"
  echo "$((($(date +%s%N) - start) / 1000000)) ms to the first result:"
  grep '^Arena: ' "$scratch/result" || fail "It does not name an arena"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build_reproducibly "$target"
collect "$scratch/packed/$name"
pack "$scratch/packed"
try
ls -l "$out/$name.tar.gz"
cat "$out/$name.tar.gz.sha256"
