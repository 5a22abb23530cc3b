#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds dmo-trace, traces one layer and draws its pictures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/packages.sh

require_build_packages
echo "Building; the first time, this takes some minutes."
# Of the workspace, so that what tests have built serves here.
cargo build --locked --workspace --bin dmo-trace
arguments=(run traces/elf/cortex-m4/conv2d.elf --plot pictures)
echo
echo "\$ dmo-trace ${arguments[*]}"
"${CARGO_TARGET_DIR:-target}/debug/dmo-trace" "${arguments[@]}"
echo
echo "The pictures, each as PNG and as SVG:"
ls "$PWD"/pictures/*.png
