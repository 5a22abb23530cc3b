#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds dmo-trace, traces one layer and draws its pictures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/packages.sh

require_build_packages
echo "Building; the first time, this takes some minutes."
cargo build --locked --package dmo-trace
arguments=(run traces/elf/cortex-m4/conv2d.elf --plot pictures)
echo
echo "\$ dmo-trace ${arguments[*]}"
cargo run --locked --quiet --package dmo-trace --bin dmo-trace -- "${arguments[@]}"
echo
echo "The pictures, each as PNG and as SVG:"
ls "$PWD"/pictures/*.png
