#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds dmo-trace from DMO_TRACE_SOURCES into $RUNNER_TEMP/dmo-trace/bin.
set -euo pipefail
command -v cargo >/dev/null || {
  echo "dmo-trace has to be built, and there is no cargo: name a version that has a binary, or install Rust first" >&2
  exit 2
}
cargo install --locked --no-default-features --path "$DMO_TRACE_SOURCES/tracer" --root "$RUNNER_TEMP/dmo-trace"
