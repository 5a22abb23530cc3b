#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds the Python package as a wheel, without Unicorn, and tries it: in an empty virtual environment, with the tests
# of python/tests.
#
# Usage: scripts/wheel.sh [--profile NAME] [--out DIR]
#   --profile  of cargo; default wheel, what is handed out. With dev it takes what other tests have built
#   --out      default target/wheel
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/packages.sh

profile=wheel
out=target/wheel
readonly max_bytes=12000000

while [ $# -gt 0 ]; do
  case "$1 ${2:+value}" in
    "--profile value") profile=$2 ;;
    "--out value") out=$2 ;;
    *)
      echo "scripts/wheel.sh [--profile NAME] [--out DIR]; not '$*'" >&2
      exit 2
      ;;
  esac
  shift 2
done

fail() { # MESSAGE...
  echo "$*" >&2
  exit 1
}

target_folder=${CARGO_TARGET_DIR:-target}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" python/LICENSES' EXIT

environment() { # FOLDER
  python3 -m venv "$1" >/dev/null 2>&1 || {
    install_packages python3-venv && python3 -m venv --clear "$1"
  }
}

# What builds wheels, kept for the next time.
tools=$target_folder/wheel-tools
[ -x "$tools/bin/python" ] || environment "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check --requirement scripts/wheel-requirements.txt </dev/null

licences() {
  rm -rf python/LICENSES
  mkdir python/LICENSES
  cp LICENSE LICENSES/{MIT,Apache-2.0,Bitstream-Vera}.txt python/LICENSES
  scripts/third_party.py "$(rustc -vV | sed -n 's/^host: //p')" --package dmo-trace-python --no-default-features \
    >python/LICENSES/THIRD-PARTY.txt
}

build() {
  local -a options=(--strip)
  # A build whose symbols are for the developer, and whose tests gain less than optimising takes.
  [ "$profile" != dev ] || options=(--config profile.dev.package.dmo-trace.opt-level=0)
  # Panics and assertions name their source: not the folders of this machine. What dev has built has them, too.
  if [ "$profile" != dev ]; then
    local folder
    for folder in "$PWD=/dmo-trace" "${CARGO_HOME:-$HOME/.cargo}=/cargo"; do
      RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$folder"
      CFLAGS="${CFLAGS:-} -ffile-prefix-map=$folder"
    done
    export RUSTFLAGS CFLAGS
  fi
  "$tools/bin/maturin" build --quiet --locked --profile "$profile" "${options[@]}" --manifest-path python/Cargo.toml \
    --out "$scratch/built" </dev/null
}

check() { # WHEEL
  local content=$scratch/content library
  "$tools/bin/python" -m zipfile --extract "$1" "$content"
  library=$content/dmo_trace/_native.abi3.so
  [ -f "$library" ] || fail "$1: it holds no _native.abi3.so"
  ! grep --quiet --text --fixed-strings uc_emu_start "$library" || fail "$1: it links Unicorn, and is under the GPL"
  [ -f "$content"/dmo_trace/py.typed ] || fail "$1: it is not typed"
  [ -n "$(find "$content" -name THIRD-PARTY.txt)" ] || fail "$1: it lacks the licences of others"
  [ "$profile" = dev ] && return
  [ "$(stat --format=%s "$1")" -le $max_bytes ] || fail "$1 has more than $max_bytes bytes"
  ! grep --quiet --text --fixed-strings --regexp="$PWD/" --regexp="$HOME/" "$library" ||
    fail "$1 names folders of this machine"
}

try() { # WHEEL
  local tried=$scratch/tried
  environment "$tried"
  "$tried/bin/pip" install --quiet --disable-pip-version-check "$1" --requirement scripts/wheel-test-requirements.txt </dev/null
  # Not in the folder of the sources: what is tested is what was installed. Caches of these tests are not the user's.
  XDG_CACHE_HOME=$scratch/cache DMO_TRACE_WHEEL_PROFILE=$profile PYTHONDONTWRITEBYTECODE=1 \
    "$tried/bin/python" -m pytest -p no:cacheprovider --quiet --import-mode=append --durations=5 \
    --rootdir=python --doctest-modules --pyargs dmo_trace "$PWD/python/tests"
}

licences
build
wheel=$(echo "$scratch"/built/*.whl)
check "$wheel"
try "$wheel"
mkdir -p "$out"
rm -f "$out"/dmo_trace-*.whl
cp "$wheel" "$out"
ls -l "$out/$(basename "$wheel")"
